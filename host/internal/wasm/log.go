package wasm

import (
	"context"
	"log/slog"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// callLog collects what one call writes, to fastreact:log or to its standard streams, up to a budget. It is logged
// once, at debug level only. One goroutine uses it.
type callLog struct {
	log    *slog.Logger
	plugin string
	limit  int // bytes
	text   []byte
	cut    bool
}

// Write implements io.Writer. It never fails: what goes over the budget is dropped.
func (l *callLog) Write(text []byte) (int, error) {
	kept := text[:min(len(text), l.limit-len(l.text))]
	l.text = append(l.text, kept...)
	l.cut = l.cut || len(kept) < len(text)
	return len(text), nil
}

func (l *callLog) flush() {
	if len(l.text) > 0 {
		l.log.Debug("plugin wrote", slog.String("plugin", l.plugin), slog.String("text", string(l.text)))
	}
	if l.cut {
		l.log.Warn("plugin log was cut at its limit", slog.String("plugin", l.plugin), slog.Int("limit", l.limit))
	}
}

// serveLog instantiates fastreact:log/1. write takes UTF-8 text; it answers 0 whatever happens, so that a pure guest
// learns nothing from it.
func serveLog(ctx context.Context, runtime wazero.Runtime) error {
	write := func(ctx context.Context, guest api.Module, stack []uint64) {
		text, ok := guest.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		stack[0] = 0
		if ok {
			_, _ = visitOf(ctx).log.Write(append(text[:len(text):len(text)], '\n'))
		}
	}
	_, err := runtime.NewHostModuleBuilder(moduleLog).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(write), []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}).
		Export("write").Instantiate(ctx)
	return err
}
