package wasm

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm/snapshot"
	"github.com/fastreact/fastreact/sdk"
)

// instance is a module with a memory of its own. One goroutine uses it at a time; its owner closes it.
type instance struct {
	module  api.Module // nil until it was started
	memory  *linearMemory
	speaker speaker
	world   *pureWorld // nil for a tool
	streams streams
	fuel    api.MutableGlobal
	globals []api.MutableGlobal // all that a snapshot holds
	layer   *snapshot.Layer     // of the snapshot; nil for one that none was laid over
	room    room                // for the input of the next operation
}

// streams leads what a guest writes to its standard streams to the call that it serves.
type streams struct{ log *callLog }

// Write implements io.Writer. It never fails.
func (s *streams) Write(text []byte) (int, error) { return s.log.Write(text) }

// start brings a module to life in its world: its start function and the dialect's starts run, within the limits of the
// visit, and the guest says which ABI it speaks.
func (e *engine) start(ctx context.Context, i *instance, config wazero.ModuleConfig, v *visit) error {
	if err := e.place(ctx, i, config.WithStartFunctions(e.dialect.starts()...), v); err != nil {
		return err
	}
	return i.speaker.greet(ctx)
}

// place instantiates a module, after it got memory, and runs no more than its start function. What was made stays in
// the instance when it fails.
func (e *engine) place(ctx context.Context, i *instance, config wazero.ModuleConfig, v *visit) (err error) {
	limits, initial := v.meter.limits, int64(e.pages)*pageSize
	if err := e.budget.await(ctx, initial, time.Duration(limits.Wall), v.meter.stop); err != nil {
		return err
	}
	if i.memory, err = reserveMemory(int64(limits.MemoryPages)*pageSize, initial, e.budget); err != nil {
		return err
	}
	i.streams.log = &v.log
	config = config.WithName("").WithStdout(&i.streams).WithStderr(&i.streams)
	i.module, err = e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, i.memory), e.compiled, config)
	if err != nil {
		i.module = nil
		return err
	}
	if i.module == nil {
		return errors.New("the module ended while it started")
	}
	for _, name := range e.globals {
		global, ok := i.module.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return errors.New("the metered module lacks a global")
		}
		i.globals = append(i.globals, global)
	}
	i.fuel = i.globals[0]
	i.speaker = e.dialect.meet(i.module)
	return nil
}

// exchange runs one operation and returns a copy of the answer. Every error is a *Failure without the plugin's name.
// The visit stands in ctx and tells afterwards whether the guest ended abnormally.
func (i *instance) exchange(ctx context.Context, v *visit, op sdk.Op, input []byte) ([]byte, error) {
	i.streams.log = &v.log
	if i.world != nil {
		i.world.turn(op, input)
		i.fuel.Set(0)
	}
	reserved := i.room
	i.room = room{}
	return i.guard(ctx, v, func() ([]byte, error) { return i.speaker.exchange(ctx, op, reserved, input) })
}

// guard runs what calls the guest, and puts what went wrong in the host's words.
func (i *instance) guard(ctx context.Context, v *visit, work func() ([]byte, error)) (answer []byte, err error) {
	v.broken = true // until the guest came back
	defer func() {
		if cause := recover(); cause != nil {
			answer, err = nil, fail(run.PluginTrapped, "host panic\n%s", debug.Stack())
		}
		i.account(v)
	}()
	if answer, err = work(); err == nil {
		err = v.meter.over(ctx) // a guest that came back after its time is over has no say either
	}
	var said *Failure
	v.broken = err != nil && !isAnswer(err)
	if err != nil && !errors.As(err, &said) {
		said = classify(ctx, i.memory, err)
	}
	if said != nil {
		return nil, said
	}
	return answer, nil
}

// isAnswer reports whether a failure is about what the guest answered; it came back and is whole.
func isAnswer(err error) bool {
	f, ok := err.(*Failure)
	if !ok {
		return false
	}
	switch f.Code {
	case run.PluginNoAnswer, run.PluginBadAnswer, run.PluginOutputTooBig:
		return true
	}
	return false
}

// account reads what the guest spent since it was asked last.
func (i *instance) account(v *visit) {
	if i.fuel != nil {
		v.meter.read(int64(i.fuel.Get()))
	}
}

// close frees the instance. It may be called again, and on one that was never started.
func (i *instance) close() {
	if i.module != nil {
		i.fuel = nil
		_ = i.module.Close(context.Background()) // closes files; what they say is not for anybody
	}
	if i.memory != nil {
		i.memory.release()
	}
}
