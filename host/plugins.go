package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// AgentTools is the profile of the tools that work on configured folders: they are for the agent tool protocol alone.
const AgentTools = run.AgentTools

// Module is a plugin that ships with the program and is trusted as the program is.
type Module struct {
	Name   string
	Bytes  []byte
	Grants sdk.Capabilities // what the program grants its own plugin
	// Profile reserves the plugin's tools for calls of this profile, which say on which configured folder they work;
	// empty: the tools are for all, and work on the workspace of their caller.
	Profile string
}

// resident is a plugin that was read and checked, and is compiled beside the listener or before it serves. Until then
// its manifest is known and its calls wait; when compiling fails its calls fail, so that a policy which cannot speak
// denies.
type resident struct {
	inspection wasm.Inspection
	shadow     bool
	module     wasm.Module
	path       string // as the configuration writes it; empty for one that comes with the program
	builtin    string // name under which it comes with the program, else empty
	profile    string // for whose calls its tools are reserved; empty: for all
	signer     string // who signed it, of those who are trusted; may be empty
	sealed     string // of everything that makes it this plugin

	once   sync.Once
	done   chan struct{} // closed when plugin and err are set
	plugin *wasm.Plugin
	err    error

	users atomic.Int32 // generations that have it
	tally *tally
}

// tally counts the calls of the plugins of one name through all generations.
type tally struct{ calls, failures atomic.Int64 }

// errRetired is why a plugin that was replaced before it was compiled never is.
var errRetired = errors.New("the plugin was replaced")

// seal makes a plugin comparable: two with the same seal are one.
func (r *resident) seal() error {
	entry := r.module
	entry.Bytes, entry.SHA256, entry.AllowUnpinned = nil, "", false // the digest is there, however it was pinned
	whole, err := json.Marshal([]any{r.inspection.Digest, r.path, r.builtin, r.shadow, r.signer, entry})
	if err != nil {
		return fmt.Errorf("read entry: %w", err)
	}
	r.sealed, r.done = run.Digest(whole), make(chan struct{})
	return nil
}

// compile loads the plugin into the plugin host and tries it, once; whoever comes later waits. Compiling cannot be
// interrupted, so a service that is stopping does not begin it.
func (r *resident) compile(ctx context.Context, host *wasm.Host, log *slog.Logger) {
	r.once.Do(func() {
		defer close(r.done)
		if r.err = ctx.Err(); r.err != nil {
			return
		}
		plugin, err := host.Load(ctx, r.module)
		if err == nil {
			if err = errors.Join(plugin.SelfTest(ctx), plugin.Doze(ctx)); err == nil { // the next one needs the memory to compile
				r.plugin = plugin
				r.logLoaded(log)
				return
			}
			err = errors.Join(err, closePlugin(plugin))
		}
		r.err = err
		if ctx.Err() == nil { // a service that stops is no reason to be alarmed
			log.Error("plugin cannot be loaded", slog.String("plugin", r.Name()), slog.Any("error", r.err))
		}
	})
}

// get waits until the plugin is loaded. A plugin that is not is unavailable.
func (r *resident) get(ctx context.Context) (*wasm.Plugin, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, &wasm.Failure{Code: run.PluginUnavailable, Plugin: r.Name(), Err: context.Cause(ctx)}
	}
	if r.err != nil {
		return nil, &wasm.Failure{Code: run.PluginUnavailable, Plugin: r.Name(), Err: r.err}
	}
	return r.plugin, nil
}

// grants shows what the plugin may touch, for the log.
func (r *resident) grants() string {
	text, err := json.Marshal(r.module.Grants)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (r *resident) manifest() sdk.Manifest { return r.inspection.Manifest }

// Name is the plugin's name.
func (r *resident) Name() string { return r.inspection.Manifest.Name }

// Digest is the digest of the plugin's code.
func (r *resident) Digest() string { return r.inspection.Digest }

// Shadow reports whether the plugin is heard but does not decide.
func (r *resident) Shadow() bool { return r.shadow }

// Wants reports whether the plugin asked to judge the tool.
func (r *resident) Wants(registered, raw string) bool {
	return wasm.Matches(r.manifest().Match, registered, raw)
}

// Evaluate asks the policy plugin for its opinion.
func (r *resident) Evaluate(ctx context.Context, question sdk.Question) (opinion sdk.Opinion, err error) {
	err = r.use(ctx, func(plugin *wasm.Plugin) error {
		opinion, err = plugin.Evaluate(ctx, question)
		return err
	})
	return opinion, err
}

// Inject asks the scope plugin to bound a call's arguments.
func (r *resident) Inject(ctx context.Context, request sdk.InjectRequest) (injection sdk.Injection, err error) {
	err = r.use(ctx, func(plugin *wasm.Plugin) error {
		injection, err = plugin.Inject(ctx, request)
		return err
	})
	return injection, err
}

// Filter asks the scope plugin to drop result entries outside the scope.
func (r *resident) Filter(ctx context.Context, request sdk.FilterRequest) (filtering sdk.Filtering, err error) {
	err = r.use(ctx, func(plugin *wasm.Plugin) error {
		filtering, err = plugin.Filter(ctx, request)
		return err
	})
	return filtering, err
}

// Review asks the guard whether a draft may leave.
func (r *resident) Review(ctx context.Context, request sdk.ReviewRequest) (review sdk.Review, err error) {
	err = r.use(ctx, func(plugin *wasm.Plugin) error {
		review, err = plugin.Review(ctx, request)
		return err
	})
	return review, err
}

// use calls the plugin once and counts how it went.
func (r *resident) use(ctx context.Context, call func(*wasm.Plugin) error) error {
	plugin, err := r.get(ctx)
	if err == nil {
		err = call(plugin)
	}
	r.tally.calls.Add(1)
	if err != nil {
		r.tally.failures.Add(1)
	}
	return err
}

func (r *resident) counts() (calls, failures int64) {
	return r.tally.calls.Load(), r.tally.failures.Load()
}

// works reports whether the plugin is loaded and can be called.
func (r *resident) works() bool {
	select {
	case <-r.done:
		return r.err == nil
	default:
		return false
	}
}

// failed reports whether the plugin can never be called.
func (r *resident) failed() bool {
	select {
	case <-r.done:
		return r.err != nil
	default:
		return false
	}
}

// state says where the plugin is in its life, in words for operators.
func (r *resident) state() (state, lastError string) {
	select {
	case <-r.done:
	default:
		return "loading", ""
	}
	if r.err != nil {
		return "failed", "the plugin cannot be loaded; the log says why"
	}
	return r.plugin.Status()
}
