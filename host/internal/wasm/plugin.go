package wasm

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm/pool"
	"github.com/fastreact/fastreact/sdk"
)

// Plugin is a loaded module. Its methods may be called from many goroutines; no call sees anything of another one.
// Every error of a call is a *Failure, after which the next call works as if nothing had happened. Close it to free it.
type Plugin struct {
	name     string
	digest   string
	manifest sdk.Manifest
	limits   sdk.Limits
	mode     Mode
	mounts   []mount
	settings map[string]string // what the operator says to it
	progress int               // bytes that one call may report
	reach    reach
	egress   egress.Policy
	engine   *engine    // nil for one that dozes
	dozing   *candidate // of a plugin whose engine may leave memory between calls, to bring it back; else nil
	key      string     // of the engine
	proven   bool       // it was started and tried by this program before, as it is
	host     *Host
	log      *slog.Logger

	image  *image                // nil in fresh mode
	leak   func(*instance) error // for tests only: restores less than it should
	warm   bool                  // instances answer a question of the host's before they are lent
	pool   *pool.Pool[*instance]
	calls  *calls
	stop   chan struct{} // closed when calls must end
	ending sync.Once

	mu        sync.Mutex
	lastError string
	failing   bool
	closed    bool
}

// Manifest returns the plugin's manifest. Callers must not change what it refers to.
func (p *Plugin) Manifest() sdk.Manifest { return p.manifest }

// Digest returns the digest of the module's bytes, "sha256:<hex>".
func (p *Plugin) Digest() string { return p.digest }

// Name returns the name of the load entry, or the manifest's when the entry has none.
func (p *Plugin) Name() string { return p.name }

// Limits returns the limits that hold for each call.
func (p *Plugin) Limits() sdk.Limits { return p.limits }

// Mode returns how calls are kept apart.
func (p *Plugin) Mode() Mode { return p.mode }

// Status returns "ready", or "failing" when the last call failed, and one safe sentence about the last failure.
func (p *Plugin) Status() (state, lastError string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing {
		return "failing", p.lastError
	}
	return "ready", p.lastError
}

// Call runs a tool. The guest is told when its time ends; what it reports reaches the listener of ctx.
func (p *Plugin) Call(ctx context.Context, cc CallContext, call sdk.Call) (sdk.Result, error) {
	call.Deadline = time.Now().Add(time.Duration(p.limits.Wall))
	if end, bounded := ctx.Deadline(); bounded && end.Before(call.Deadline) {
		call.Deadline = end
	}
	return ask(ctx, p, question{sdk.KindTool, sdk.OpCall, cc, call}, decode[sdk.Result])
}

// Evaluate asks a policy.
func (p *Plugin) Evaluate(ctx context.Context, q sdk.Question) (sdk.Opinion, error) {
	return ask(ctx, p, question{kind: sdk.KindPolicy, op: sdk.OpEvaluate, input: q}, decodeOpinion)
}

// Inject asks a scope plugin to bound arguments.
func (p *Plugin) Inject(ctx context.Context, request sdk.InjectRequest) (sdk.Injection, error) {
	return ask(ctx, p, question{kind: sdk.KindScope, op: sdk.OpInject, input: request}, decodeInjection)
}

// Filter asks a scope plugin to drop what lies outside. When it removed nothing, the result is the one that was given.
func (p *Plugin) Filter(ctx context.Context, request sdk.FilterRequest) (sdk.Filtering, error) {
	return ask(ctx, p, question{kind: sdk.KindScope, op: sdk.OpFilter, input: request}, func(answer []byte) (sdk.Filtering, error) {
		return decodeFiltering(answer, request.Result)
	})
}

// Review asks a guard.
func (p *Plugin) Review(ctx context.Context, request sdk.ReviewRequest) (sdk.Review, error) {
	return ask(ctx, p, question{kind: sdk.KindGuard, op: sdk.OpReview, input: request}, decodeReview)
}

// Wants reports whether the plugin asked to judge a tool: see Matches.
func (p *Plugin) Wants(registered, raw string) bool {
	return Matches(p.manifest.Match, registered, raw)
}

// Matches reports whether a manifest's globs match a tool, by its registered or its raw name. Without globs, and in
// doubt, it is true: a policy that is asked can only tighten.
func Matches(match *sdk.Match, registered, raw string) bool {
	if match == nil {
		return true
	}
	for _, glob := range match.Tools {
		for _, name := range []string{registered, raw} {
			if matched, err := doublestar.Match(glob, name); matched || err != nil {
				return true
			}
		}
	}
	return false
}

type question struct {
	kind  sdk.Kind
	op    sdk.Op
	cc    CallContext
	input any
}

// ask is the way of every call: check the kind, run the guest, read its answer, remember how it went.
func ask[T any](ctx context.Context, p *Plugin, q question, read func([]byte) (T, error)) (T, error) {
	var none T
	answer, err := p.run(ctx, q)
	if err == nil {
		var out T
		if out, err = read(answer); err == nil {
			p.remember(nil)
			return out, nil
		}
	}
	failure := asFailure(p.name, err)
	p.remember(failure)
	return none, failure
}

func (p *Plugin) run(ctx context.Context, q question) ([]byte, error) {
	if p.manifest.Kind != q.kind {
		return nil, p.wrongKind(q.op)
	}
	input, err := encode(q.input)
	if err != nil {
		return nil, err
	}
	return p.exchange(ctx, q.op, q.cc, input)
}

func (p *Plugin) wrongKind(op sdk.Op) error {
	return fail(run.PluginUnavailable, "a %s cannot answer operation %d", p.manifest.Kind, op)
}

func (p *Plugin) remember(failure *Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = failure != nil
	if failure == nil || errors.Is(failure, context.Canceled) {
		return
	}
	p.lastError = failure.Error()
}
