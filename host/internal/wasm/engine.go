package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// engine is the compiled code of one module, in a runtime of its own: modules that distrust each other share none.
type engine struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache // nil without a cache folder
	compiled wazero.CompiledModule
	dialect  dialect
	globals  []string // export names of all that a snapshot holds; the first is the fuel
	pages    uint64   // memory that the module starts with
	budget   *memoryBudget

	unrestorable string // what of the module no snapshot undoes; empty: nothing
}

// engines holds one engine for each module and the limits written into it, and counts who uses it. Two such loads
// compile it once.
type engines struct {
	config Config
	budget *memoryBudget

	mu    sync.Mutex
	known map[string]*sharedEngine
}

type sharedEngine struct {
	ready chan struct{} // closed when engine and err are set
	*engine
	err   error
	users int         // guarded by engines.mu
	idle  *time.Timer // of one that nobody uses and that is kept a while; guarded by engines.mu
}

// acquire returns the engine of a module, compiling it when nobody else has. Every acquire needs a release.
func (e *engines) acquire(ctx context.Context, c *candidate) (*engine, error) {
	digest := c.key()
	shared, mine := e.join(digest)
	if mine {
		shared.engine, shared.err = e.build(context.WithoutCancel(ctx), c)
		close(shared.ready)
	}
	select {
	case <-shared.ready:
	case <-ctx.Done():
		_ = e.release(context.WithoutCancel(ctx), digest) // somebody else compiles it and closes it
		return nil, context.Cause(ctx)
	}
	if shared.err != nil {
		_ = e.release(ctx, digest) // nothing was built
		return nil, shared.err
	}
	return shared.engine, nil
}

func (e *engines) join(digest string) (shared *sharedEngine, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	shared, there := e.known[digest]
	if !there {
		shared = &sharedEngine{ready: make(chan struct{})}
		e.known[digest] = shared
	}
	shared.wake()
	shared.users++
	return shared, !there
}

// release gives an engine back. The last user closes it; no call may be running then.
func (e *engines) release(ctx context.Context, digest string) error {
	e.mu.Lock()
	shared, there := e.known[digest]
	if there {
		shared.users--
	}
	last := there && shared.users == 0
	if last {
		delete(e.known, digest)
	}
	e.mu.Unlock()
	if !last {
		return nil
	}
	return shared.free(ctx)
}

// build compiles with the cache on disk; when that fails for whatever reason, once more without it.
func (e *engines) build(ctx context.Context, c *candidate) (*engine, error) {
	if e.config.CacheDir == "" {
		return e.buildFresh(ctx, c)
	}
	entry := e.entryOf(c)
	built, err := e.buildCached(ctx, entry, c)
	if err == nil {
		return built, nil
	}
	_ = entry.remove()
	fresh, freshErr := e.buildFresh(ctx, c)
	if freshErr != nil {
		return nil, freshErr
	}
	e.config.Log.Warn("wasm cache is of no use, compiled without it", slog.String("error", err.Error()))
	return fresh, nil
}

func (e *engines) buildFresh(ctx context.Context, c *candidate) (*engine, error) {
	code, err := c.metered()
	if err != nil {
		return nil, err
	}
	return e.compile(ctx, c, code, nil)
}

// buildCached takes the metered module and its compiled code from an entry that is whole and of today's making, and
// makes the entry anew otherwise.
func (e *engines) buildCached(ctx context.Context, entry cacheEntry, c *candidate) (*engine, error) {
	if err := entry.prepare(); err != nil {
		return nil, err
	}
	code, kept := entry.metered(c.origin())
	if !kept {
		if err := entry.remove(); err != nil {
			return nil, err
		}
		var err error
		if code, err = c.metered(); err != nil {
			return nil, err
		}
	}
	before := entry.look()
	built, err := e.compileInto(ctx, entry, c, code)
	if err != nil {
		return nil, err
	}
	if !kept {
		err = entry.keepMetered(c.origin(), code)
	}
	if err == nil && entry.look() != before {
		err = entry.seal()
	}
	if err != nil {
		return nil, errors.Join(err, built.close(ctx))
	}
	return built, nil
}

// compileInto compiles with the code that an entry holds, or puts the code there.
func (e *engines) compileInto(ctx context.Context, entry cacheEntry, c *candidate, code meter.Module) (*engine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(entry.dir)
	if err != nil {
		return nil, fmt.Errorf("open wasm cache: %w", err)
	}
	built, err := e.compile(ctx, c, code, cache)
	if err != nil {
		return nil, errors.Join(err, cache.Close(ctx))
	}
	return built, nil
}

// compile compiles a metered module, and never runs it. cache may be nil; on success it belongs to the engine.
func (e *engines) compile(ctx context.Context, c *candidate, code meter.Module, cache wazero.CompilationCache) (_ *engine, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("compile module: host panic: %v", cause)
		}
	}()
	// With more than one worker the compiler looks at the clock.
	ctx, cancel := context.WithTimeoutCause(experimental.WithCompilationWorkers(ctx, 2), e.config.CompileTime, errCompileTime)
	defer cancel()
	config := wazero.NewRuntimeConfig().WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	compiled, err := runtime.CompileModule(ctx, code.Bytes)
	if err == nil {
		err = link(ctx, runtime, compiled, c.dialect)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile module: %w", err), runtime.Close(context.WithoutCancel(ctx)))
	}
	return &engine{
		runtime: runtime, cache: cache, compiled: compiled, dialect: c.dialect, budget: e.budget,
		globals: append([]string{meter.FuelGlobal, meter.DepthGlobal}, code.Globals...), pages: c.shape.memories[0].low,
		unrestorable: code.Unrestorable,
	}, nil
}

var errCompileTime = errors.New("the time for compiling is over; the operator may raise plugins.limits.compile_time")

// link serves what checkImports let pass, and compares each import with what is served.
func link(ctx context.Context, runtime wazero.Runtime, compiled wazero.CompiledModule, d dialect) error {
	for _, serve := range []func(context.Context, wazero.Runtime) error{serveMeter, serveWASI, serveLog, serveEmit, serveHTTP, serveKV, d.serve} {
		if err := serve(ctx, runtime); err != nil {
			return err
		}
	}
	for _, want := range compiled.ImportedFunctions() {
		module, name, _ := want.Import()
		served := runtime.Module(module)
		if served == nil {
			return fmt.Errorf("import %s %s is not served", module, name)
		}
		got, there := served.ExportedFunctionDefinitions()[name]
		if !there || !slices.Equal(got.ParamTypes(), want.ParamTypes()) || !slices.Equal(got.ResultTypes(), want.ResultTypes()) {
			return fmt.Errorf("import %s %s has another signature than the one served", module, name)
		}
	}
	return nil
}

func (e *engine) close(ctx context.Context) error {
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	if err != nil {
		return fmt.Errorf("close wasm engine: %w", err)
	}
	return nil
}

// close frees every engine whoever uses it. No call may be running.
func (e *engines) close(ctx context.Context) error {
	e.mu.Lock()
	known := e.known
	e.known = map[string]*sharedEngine{}
	for _, shared := range known {
		shared.wake()
	}
	e.mu.Unlock()
	var problems []error
	for _, shared := range known {
		<-shared.ready
		if shared.engine != nil {
			problems = append(problems, shared.engine.close(ctx))
		}
	}
	return errors.Join(problems...)
}
