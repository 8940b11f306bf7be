package wasm

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// A tool's code is megabytes that most hours do not need: it leaves memory when no call has used it for Config.Idle, and
// comes back from the cache on disk when it is called. Policies, scopes and guards are asked all the time, and stay.

// dozes reports whether the engine of a module may leave memory between its calls.
func (h *Host) dozes(c *candidate) bool {
	return h.config.Idle > 0 && h.config.CacheDir != "" && !c.manifest.Kind.Pure()
}

// wake returns the plugin's compiled code, brought back when it had left memory. rest must follow when nothing of the
// code is used any more.
func (p *Plugin) wake(ctx context.Context) (code *engine, rest func(), err error) {
	if p.dozing == nil {
		return p.engine, func() {}, nil
	}
	if code, err = p.host.engines.acquire(ctx, p.dozing); err != nil {
		return nil, nil, err
	}
	return code, func() { p.host.engines.rest(p.key) }, nil
}

// rest gives an engine back that is wanted again soon: it is freed when nobody has used it for Config.Idle.
func (e *engines) rest(digest string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	shared, there := e.known[digest]
	if !there {
		return // the host was closed
	}
	if shared.users--; shared.users == 0 {
		shared.idle = time.AfterFunc(e.config.Idle, func() {
			if err := e.forget(context.Background(), digest); err != nil {
				e.config.Log.Error("code of an idle tool cannot be freed", slog.Any("error", err))
			}
		})
	}
}

// Doze lets the plugin's code leave memory at once where it may leave at all and no call uses it.
func (p *Plugin) Doze(ctx context.Context) error {
	if p.dozing == nil {
		return nil
	}
	return p.host.engines.forget(context.WithoutCancel(ctx), p.key)
}

// forget frees an engine that nobody uses, and gives its memory back to the system.
func (e *engines) forget(ctx context.Context, digest string) error {
	e.mu.Lock()
	shared, there := e.known[digest]
	unused := there && shared.users == 0
	if unused {
		delete(e.known, digest)
		shared.wake()
	}
	e.mu.Unlock()
	if !unused {
		return nil
	}
	defer debug.FreeOSMemory()
	return shared.free(ctx)
}

// wake ends an engine's time of grace. engines.mu is held.
func (s *sharedEngine) wake() {
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
}

// free unmaps the code, when there is some. Nobody uses it any more.
func (s *sharedEngine) free(ctx context.Context) error {
	<-s.ready
	if s.engine == nil {
		return nil
	}
	return s.engine.close(ctx)
}
