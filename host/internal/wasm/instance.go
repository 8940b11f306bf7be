package wasm

import (
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

// opProbe asks for nothing: the module is started and says which ABI it speaks.
const opProbe sdk.Op = 0

// work is one call of a guest: what it is asked, and the world it sees.
type work struct {
	op    sdk.Op
	input []byte
	world wazero.ModuleConfig
	visit *visit
}

// instance is a module that runs for one call. One goroutine uses it.
type instance struct {
	module  api.Module
	memory  *memoryBudget
	speaker speaker
}

// answer runs one call in a fresh instance and returns a copy of what the guest answered. The context has the wall
// limit already. Every error is a *Failure without the plugin's name.
func (e *engine) answer(ctx context.Context, w work) (answer []byte, err error) {
	budget := newMemoryBudget(w.visit.limits.MemoryPages)
	defer func() {
		if cause := recover(); cause != nil {
			answer, err = nil, fail(run.PluginTrapped, "host panic: %v\n%s", cause, debug.Stack())
		}
	}()
	ctx = withVisit(experimental.WithMemoryAllocator(ctx, budget), w.visit)
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
	config := w.world.WithName("").WithStartFunctions(e.dialect.starts()...).WithStdout(w.visit.log).WithStderr(w.visit.log)
	module, err := e.runtime.InstantiateModule(ctx, e.compiled, config)
	if err != nil {
		return nil, err
	}
	if module == nil {
		return nil, errors.New("the module ended while it started")
	}
	return &instance{module: module, memory: budget, speaker: e.dialect.meet(module)}, nil
}

func (i *instance) exchange(ctx context.Context, w work) ([]byte, error) {
	if err := i.speaker.greet(ctx); err != nil {
		return nil, err
	}
	if w.op == opProbe {
		return nil, nil
	}
	return i.speaker.exchange(ctx, w.op, w.input)
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
