package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// work is one call of a guest: what it is asked, what it may use, and the world it sees.
type work struct {
	op     sdk.Op
	input  []byte
	limits sdk.Limits
	world  wazero.ModuleConfig
	log    *callLog
}

// instance is a module that runs for one call. One goroutine uses it.
type instance struct {
	module api.Module
	memory *memoryBudget
}

// answer runs one call in a fresh instance and returns a copy of what the guest answered. The context has the wall
// limit already. Every error is a *Failure without the plugin's name.
func (e *engine) answer(ctx context.Context, w work) (answer []byte, err error) {
	budget := newMemoryBudget(w.limits.MemoryPages)
	defer func() {
		if cause := recover(); cause != nil {
			answer, err = nil, fail(run.PluginTrapped, "host panic: %v\n%s", cause, debug.Stack())
		}
	}()
	ctx = withCallLog(experimental.WithMemoryAllocator(ctx, budget), w.log)
	guest, err := e.instantiate(ctx, w, budget)
	if err != nil {
		return nil, classify(ctx, budget, err)
	}
	defer guest.module.Close(context.WithoutCancel(ctx))
	answer, err = guest.exchange(ctx, w)
	if err != nil {
		return nil, classify(ctx, budget, err)
	}
	return answer, nil
}

// instantiate starts the module: its start function and _initialize run here, within the same limits.
func (e *engine) instantiate(ctx context.Context, w work, budget *memoryBudget) (*instance, error) {
	config := w.world.WithName("").WithStartFunctions(exportInitialize).WithStdout(w.log).WithStderr(w.log)
	module, err := e.runtime.InstantiateModule(ctx, e.compiled, config)
	if err != nil {
		return nil, err
	}
	if module == nil {
		return nil, errors.New("the module ended while it started")
	}
	return &instance{module: module, memory: budget}, nil
}

func (i *instance) exchange(ctx context.Context, w work) ([]byte, error) {
	if err := i.checkABI(ctx); err != nil {
		return nil, err
	}
	if w.op == opProbe {
		return nil, nil
	}
	ptr, err := i.place(ctx, w.input)
	if err != nil {
		return nil, err
	}
	packed, err := i.call(ctx, exportCall, uint64(w.op), uint64(ptr), uint64(len(w.input)))
	if err != nil {
		return nil, err
	}
	return i.unpack(packed, w.limits.OutputBytes)
}

// opProbe asks for nothing: the module is started and says which ABI it speaks.
const opProbe sdk.Op = 0

func (i *instance) checkABI(ctx context.Context) error {
	version, err := i.call(ctx, exportABI)
	if err != nil {
		return err
	}
	if uint32(version) != sdk.ABIVersion {
		return fail(run.PluginUnavailable, "the module speaks guest ABI %d, the host speaks %d", uint32(version), sdk.ABIVersion)
	}
	return nil
}

// place puts the input where the guest wants it.
func (i *instance) place(ctx context.Context, input []byte) (uint32, error) {
	ptr, err := i.call(ctx, exportAlloc, uint64(len(input)))
	if err != nil {
		return 0, err
	}
	if uint32(ptr) == 0 {
		return 0, fail(run.PluginOutOfMemory, "fastreact_alloc gave no room for %d bytes of input", len(input))
	}
	if !i.module.Memory().Write(uint32(ptr), input) {
		return 0, fail(run.PluginBadAnswer, "fastreact_alloc gave an address out of bounds")
	}
	return uint32(ptr), nil
}

func (i *instance) unpack(packed uint64, limit int) ([]byte, error) {
	ptr, size := uint32(packed>>32), uint32(packed)
	switch {
	case packed == 0:
		return nil, fail(run.PluginNoAnswer, "the plugin reported that it failed")
	case uint64(size) > uint64(limit):
		return nil, fail(run.PluginOutputTooBig, "the answer has %d bytes, the limit is %d", size, limit)
	}
	view, ok := i.module.Memory().Read(ptr, size)
	if !ok {
		return nil, fail(run.PluginBadAnswer, "the answer lies out of bounds")
	}
	return bytes.Clone(view), nil
}

// call calls an export. A guest that came back after its time is over has no say either.
func (i *instance) call(ctx context.Context, name string, params ...uint64) (uint64, error) {
	results, err := i.module.ExportedFunction(name).Call(ctx, params...)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, err
	}
	if len(results) != 1 {
		return 0, fmt.Errorf("%s gave %d results", name, len(results))
	}
	return results[0], nil
}

// classify turns any error of a call into a *Failure. Time comes first, then memory: a guest that was refused memory
// usually traps.
func classify(ctx context.Context, budget *memoryBudget, err error) *Failure {
	var known *Failure
	var exit *sys.ExitError
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return &Failure{Code: run.PluginTimedOut, Err: fmt.Errorf("ended by the host: %w", context.Cause(ctx))}
	case budget.refused:
		return fail(run.PluginOutOfMemory, "the memory limit of %d pages was reached: %w", budget.limit/pageSize, err)
	case errors.As(err, &exit):
		return fail(run.PluginTrapped, "the module exited with code %d", exit.ExitCode())
	}
	return &Failure{Code: run.PluginTrapped, Err: err}
}

var errWall = errors.New("wall time limit reached")

func withWall(ctx context.Context, wall sdk.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, time.Duration(wall), errWall)
}
