package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/sdk"
)

// leastReport is what a report costs at least, so that empty ones end too.
const leastReport = 64 // bytes

// emitter forwards what one call reports, up to a budget. One goroutine uses it.
type emitter struct {
	tell func(sdk.Progress)
	left int // bytes
}

// newEmitter lets a call report as much as it was granted to whoever listens behind ctx. Without a grant nothing is
// forwarded: the import did not link then.
func newEmitter(ctx context.Context, granted int) emitter {
	return emitter{left: granted, tell: func(p sdk.Progress) { sdk.ReportProgress(ctx, p) }}
}

// take forwards one report. What is no report, or beyond the budget, is dropped.
func (e *emitter) take(raw []byte) {
	if e.left <= 0 || len(raw) > sdk.MaxProgressBytes+leastReport {
		e.left = 0
		return
	}
	var report sdk.Progress
	if err := json.Unmarshal(raw, &report); err != nil {
		return
	}
	if len(report.Text) > e.left {
		report.Text = strings.ToValidUTF8(report.Text[:e.left], "")
	}
	e.left -= max(len(report.Text), leastReport)
	e.tell(report)
}

// serveEmit instantiates fastreact:emit/1. chunk takes one JSON object, a progress; it answers 0 whatever happens.
func serveEmit(ctx context.Context, runtime wazero.Runtime) error {
	chunk := func(ctx context.Context, guest api.Module, stack []uint64) {
		raw, ok := guest.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		stack[0] = 0
		if ok {
			visitOf(ctx).emit.take(raw)
		}
	}
	_, err := runtime.NewHostModuleBuilder(moduleEmit).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(chunk), []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}).
		Export("chunk").Instantiate(ctx)
	return err
}

// progressOf returns how much a plugin may report: the smaller of what was requested and what was granted.
func progressOf(requested, granted *sdk.ProgressAccess) (int, error) {
	if granted != nil {
		if err := granted.Validate(); err != nil {
			return 0, fmt.Errorf("grants.progress.%w", err)
		}
	}
	if requested == nil || granted == nil {
		return 0, nil
	}
	return min(requested.Bytes, granted.Bytes), nil
}
