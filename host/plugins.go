package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Module is a plugin that ships with the program and is trusted as the program is.
type Module struct {
	Name   string
	Bytes  []byte
	Grants sdk.Capabilities // what the program grants its own plugin
}

// resident is a plugin that was read and checked, and is compiled beside the listener. Until then its manifest is
// known and its calls wait; when compiling fails its calls fail, so that a policy which cannot speak denies.
type resident struct {
	inspection wasm.Inspection
	shadow     bool
	module     wasm.Module

	done   chan struct{} // closed when plugin and err are set
	plugin *wasm.Plugin
	err    error

	calls, failures atomic.Int64
}

// readPlugins reads and checks every module, built-in ones first, and returns all problems at once.
func readPlugins(cfg PluginsConfig, builtins []Module) ([]*resident, error) {
	var residents []*resident
	var problems []error
	names := map[string]bool{}
	add := func(m wasm.Module, shadow bool, where string) {
		inspection, err := wasm.Inspect(m.Bytes)
		if err == nil && names[inspection.Manifest.Name] {
			err = fmt.Errorf("a plugin named %s is loaded already", inspection.Manifest.Name)
		}
		if err == nil && inspection.Manifest.Kind == sdk.KindGuard {
			err = errors.New("it is a guard, and this service asks no guard about answers: it would protect nothing; remove the entry")
		}
		if err == nil {
			err = wasm.Check(wasm.Config{}, m)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", where, err))
			return
		}
		names[inspection.Manifest.Name] = true
		m.Name = inspection.Manifest.Name
		residents = append(residents, &resident{
			inspection: inspection, module: m, shadow: shadow, done: make(chan struct{}),
		})
	}
	for _, b := range builtins {
		add(wasm.Module{Bytes: b.Bytes, Grants: b.Grants, Builtin: true, AllowUnpinned: true}, false, "built-in plugin "+b.Name)
	}
	for i, entry := range cfg.Load {
		where := fmt.Sprintf("plugins.load[%d] %s", i, entry.Path)
		module, err := readModule(entry)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", where, err))
			continue
		}
		add(module, entry.Shadow, where)
	}
	return residents, errors.Join(problems...)
}

func readModule(entry PluginConfig) (wasm.Module, error) {
	code, err := os.ReadFile(entry.Path)
	if errors.Is(err, os.ErrNotExist) {
		return wasm.Module{}, errors.New("there is no such file; make it with `fastreact plugin build DIR`, or correct the path, which is relative to the working directory")
	}
	if err != nil {
		return wasm.Module{}, fmt.Errorf("read plugin: %w", err)
	}
	if digest := run.Digest(code); entry.Pin() != "" && digest != "sha256:"+entry.Pin() {
		return wasm.Module{}, fmt.Errorf("the file's digest is %s, not the pinned one; review the file, then pin it anew", digest)
	}
	return wasm.Module{
		Bytes: code, SHA256: entry.Pin(), AllowUnpinned: entry.AllowUnpinned,
		Grants: entry.Grants.Capabilities(), Config: json.RawMessage(entry.Config), Limits: entry.Limits.Limits(),
	}, nil
}

// compile loads the plugin into the plugin host. It is called once. Compiling cannot be interrupted, so a service
// that is stopping does not begin it.
func (r *resident) compile(ctx context.Context, host *wasm.Host, log *slog.Logger) {
	defer close(r.done)
	if r.err = ctx.Err(); r.err != nil {
		return
	}
	r.plugin, r.err = host.Load(ctx, r.module)
	if r.err != nil {
		if ctx.Err() == nil { // a service that stops is no reason to be alarmed
			log.Error("plugin cannot be loaded; its calls are denied",
				slog.String("plugin", r.Name()), slog.Any("error", r.err))
		}
		return
	}
	log.Info("plugin loaded", slog.String("plugin", r.Name()), slog.String("kind", string(r.manifest().Kind)),
		slog.String("digest", r.Digest()), slog.Bool("shadow", r.shadow), slog.String("grants", r.grants()))
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

// use calls the plugin once and counts how it went.
func (r *resident) use(ctx context.Context, call func(*wasm.Plugin) error) error {
	plugin, err := r.get(ctx)
	if err == nil {
		err = call(plugin)
	}
	r.calls.Add(1)
	if err != nil {
		r.failures.Add(1)
	}
	return err
}

func (r *resident) counts() (calls, failures int64) { return r.calls.Load(), r.failures.Load() }

// works reports whether the plugin is loaded and can be called.
func (r *resident) works() bool {
	select {
	case <-r.done:
		return r.err == nil
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
