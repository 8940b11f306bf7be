package wasm

import (
	"context"
	"errors"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm/meter"
	"github.com/fastreact/fastreact/sdk"
)

// quantum is the fuel that a guest gets at a time: it runs a millisecond or less with it, and as long the whole
// process waits for it when garbage is collected.
const quantum = 1 << 20

// errWall says that a call took its wall time.
var errWall = errors.New("wall time limit reached")

// taximeter counts what one call costs and ends it at its limits. One goroutine uses it.
type taximeter struct {
	limits   sdk.Limits
	deadline time.Time       // zero: none
	stop     <-chan struct{} // closed when the plugin ends its calls
	lent     int64           // fuel that the guest was given and did not account for
	gas      int64           // fuel used up
	calls    int             // host calls
}

// tick is what a guest asks between its steps: it answers the fuel to go on with, or ends the guest with a *Failure.
func (t *taximeter) tick(ctx context.Context, reason uint32, fuel int64) int64 {
	t.read(fuel)
	switch reason {
	case meter.TooDeep:
		panic(fail(run.PluginStackOverflow, "calls are nested deeper than the limit call_depth of %d", t.limits.CallDepth))
	case meter.HostCall:
		if t.calls++; t.calls > t.limits.HostCalls {
			panic(fail(run.PluginTooManyHostCalls, "more calls of the host than the limit host_calls of %d", t.limits.HostCalls))
		}
	}
	if err := t.over(ctx); err != nil {
		panic(err)
	}
	if fuel < 0 {
		t.lent = min(quantum, t.limits.Gas-t.gas)
	}
	return t.lent
}

// read accounts for the fuel that is left in the guest.
func (t *taximeter) read(fuel int64) {
	t.gas += t.lent - fuel
	t.lent = fuel
}

// over returns why the call must end, or nil.
func (t *taximeter) over(ctx context.Context) error {
	if t.gas >= t.limits.Gas {
		return fail(run.PluginOutOfGas, "the limit of %d gas is used up", t.limits.Gas)
	}
	select {
	case <-ctx.Done():
		return timedOut(context.Cause(ctx))
	case <-t.stop:
		return timedOut(ErrClosed)
	default:
	}
	if !t.deadline.IsZero() && !time.Now().Before(t.deadline) {
		return timedOut(errWall)
	}
	return nil
}

func timedOut(cause error) *Failure { return fail(run.PluginTimedOut, "ended by the host: %w", cause) }

// serveMeter instantiates what metered modules import.
func serveMeter(ctx context.Context, runtime wazero.Runtime) error {
	tick := func(ctx context.Context, stack []uint64) {
		stack[0] = uint64(visitOf(ctx).meter.tick(ctx, uint32(stack[0]), int64(stack[1])))
	}
	_, err := runtime.NewHostModuleBuilder(meter.ImportModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(tick), []api.ValueType{api.ValueTypeI32, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export(meter.TickFunction).Instantiate(ctx)
	return err
}
