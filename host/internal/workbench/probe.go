package workbench

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/testdata/hostile"
)

// modules runs every hostile module under the plugin's limits, or tighter ones where a probe would take long. Those that
// cross a limit of the whole host are left to the host's own tests.
func (h *hostility) modules(ctx context.Context) error {
	probes, err := hostile.Probes()
	if err != nil {
		return err
	}
	for _, probe := range probes {
		if probe.Value != "" {
			continue
		}
		trial := Trial{Name: probe.Name, Of: "host", About: probe.Says}
		limits := tighter(h.limits, probe.Limits)
		trial.read(h.probe(ctx, probe, limits), time.Duration(limits.Wall))
		if probe.Code != "" && trial.Ended == "answer" {
			trial.fail("it was not stopped: want " + probe.Code)
		}
		h.afterwards(ctx, &trial)
		h.trials = append(h.trials, trial)
	}
	return ctx.Err()
}

// probe loads one hostile module and calls it.
func (h *hostility) probe(ctx context.Context, probe hostile.Probe, limits sdk.Limits) reply {
	began := time.Now()
	inspection, err := wasm.Inspect(probe.Module)
	if err != nil {
		return reply{err: fmt.Errorf("read probe: %w", err)}
	}
	plugin, err := h.stand.host.Load(ctx, wasm.Module{Bytes: probe.Module, AllowUnpinned: true, Limits: limits})
	if err != nil {
		return reply{err: err, took: time.Since(began)}
	}
	c := Case{Op: usualOp(inspection.Kind), Input: []byte(`{"tool":"vector"}`)}
	if err := c.fill(); err != nil {
		return reply{err: err}
	}
	said := ask(ctx, plugin, c.Op, wasm.CallContext{}, c.Input)
	if err := plugin.Close(context.WithoutCancel(ctx)); err != nil {
		return reply{err: fmt.Errorf("close probe: %w", err), took: said.took}
	}
	return said
}

// tighter takes of two limits the smaller one, where both say something.
func tighter(a, b sdk.Limits) sdk.Limits {
	out := reflect.ValueOf(&a).Elem()
	other := reflect.ValueOf(b)
	for i := range out.NumField() {
		if one, two := out.Field(i), other.Field(i); !two.IsZero() && (one.IsZero() || less(two, one)) {
			one.Set(two)
		}
	}
	return a
}

func less(a, b reflect.Value) bool {
	if a.CanInt() {
		return a.Int() < b.Int()
	}
	return a.Uint() < b.Uint()
}
