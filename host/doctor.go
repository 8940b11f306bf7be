package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Health is how one part of the service is.
type Health string

// The three states of a part.
const (
	Works   Health = "works"
	Degrade Health = "degraded" // works, but not as in production
	Broken  Health = "broken"
)

// Finding is what Doctor found out about one part, and what to do about it.
type Finding struct {
	Part   string `json:"part"`
	Health Health `json:"health"`
	Says   string `json:"says"`
	Do     string `json:"do,omitempty"`
}

// doctorPatience bounds the examination of one part.
const doctorPatience = 60 * time.Second

// Doctor examines every part that the options name, without serving. Natives belong to it and are closed.
func Doctor(ctx context.Context, options Options) []Finding {
	findings := []Finding{examineAuth(ctx, options.Config.Auth), examineModel(ctx, options), examineStore(ctx, options)}
	findings = append(findings, examinePlugins(ctx, options)...)
	findings = append(findings, examineSkills(options.Config.Skills)...)
	for _, native := range options.Natives {
		findings = append(findings, examineNative(ctx, native)...)
	}
	findings = append(findings, examineNotify(ctx, options)...)
	return append(findings, describeLimits(options.Config))
}

func examineModel(ctx context.Context, options Options) Finding {
	cfg := options.Config.Model
	if cfg.BaseURL == "" {
		return Finding{
			"model", Degrade, "no model is configured: a scripted demo answers",
			"set model.base_url or FASTREACT_MODEL_BASE_URL",
		}
	}
	if err := openAI(cfg, options.Log).Ping(ctx); err != nil {
		_, sentence := run.Public(err)
		return Finding{"model", Broken, sentence, "check model.base_url, " + cfg.APIKeyEnv + " and the network"}
	}
	return Finding{Part: "model", Health: Works, Says: cfg.BaseURL + " answers"}
}

func openAI(cfg ModelConfig, log *slog.Logger) *model.OpenAI {
	return model.NewOpenAI(model.OpenAIConfig{
		BaseURL: cfg.BaseURL, Name: cfg.Name, APIKey: cfg.APIKey.Reveal(),
		FirstByte: cfg.FirstByteTimeout, Idle: cfg.IdleTimeout, Total: cfg.TotalTimeout,
		MaxRetries: cfg.MaxRetries, Log: log,
	})
}

func examineStore(ctx context.Context, options Options) Finding {
	if options.Config.Store.Driver == storePostgres {
		return examinePostgres(ctx, options)
	}
	path := options.Config.Store.Path
	schema, _ := sqlite.Look(ctx, path) // Open says what is wrong
	store, err := sqlite.Open(ctx, sqlite.Config{
		Path: path, Log: options.Log, KeepSchema: schema.Found > 0 || !options.Config.Store.AutoMigrate,
	})
	if err == nil {
		err = errors.Join(store.Ping(ctx), store.Close())
	}
	switch {
	case errors.Is(err, sqlite.ErrBehind) && options.Config.Store.AutoMigrate:
		return Finding{"store", Degrade, err.Error(), byItself}
	case errors.Is(err, sqlite.ErrInUse):
		return Finding{Part: "store", Health: Works, Says: path + " is in use, as it is while the service runs"}
	case err != nil:
		return Finding{"store", Broken, err.Error(), "check the folder of " + path}
	}
	return Finding{Part: "store", Health: Works, Says: path + " can be written to"}
}

func examinePlugins(ctx context.Context, options Options) []Finding {
	cfg := options.Config.Plugins
	residents, err := readPlugins(cfg, options.Modules, nil)
	if err != nil {
		return brokenPlugins(err)
	}
	setup := cfg.hostConfig(options.Log)
	setup.Idle = 0 // everything is tried, whatever was proven before
	setup.World = NewEgress(options.Config).world(options.Config, nil)
	plugins, err := wasm.New(setup)
	if err != nil {
		return []Finding{{"plugins", Broken, err.Error(), "check plugins.cache_dir"}}
	}
	defer func() { _ = plugins.Close(context.WithoutCancel(ctx)) }()
	var findings []Finding
	for _, r := range residents {
		r.compile(ctx, plugins, options.Log)
		found := Finding{Part: "plugin " + r.Name(), Health: Works, Says: r.describe()}
		if r.builtin == "" && r.module.SHA256 == "" {
			found.Health, found.Do = Degrade, "pin it with `fastreact plugin lock` when it was reviewed"
		}
		if r.err != nil {
			found.Health, found.Says, found.Do = Broken, r.err.Error(), "ask the plugin's author, or remove it from plugins.load"
		}
		findings = append(findings, found)
	}
	return append(findings, examineAgentTools(ctx, options.Config, residents)...)
}

// describe says what a plugin is, whose it is and what it may touch.
func (r *resident) describe() string {
	origin := "comes with the program"
	if r.builtin == "" {
		origin = "pinned"
		if r.module.SHA256 == "" {
			origin = "not pinned"
		}
		if r.signer == "" {
			origin += ", signed by nobody who is listed"
		} else {
			origin += ", signed by " + r.signer
		}
	}
	grants := r.grants()
	if grants == "{}" {
		grants = "nothing"
	}
	return fmt.Sprintf("%s %s; %s; granted %s", r.manifest().Kind, r.Digest(), origin, grants)
}

// brokenPlugins has one finding for each entry that is refused.
func brokenPlugins(err error) []Finding {
	problems := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		problems = joined.Unwrap()
	}
	var findings []Finding
	for _, problem := range problems {
		findings = append(findings, Finding{"plugins", Broken, problem.Error(), "correct this entry, or remove it"})
	}
	return findings
}

func examineNative(ctx context.Context, native sdk.Native) []Finding {
	defer func() { _ = native.Close() }()
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	if known, may := native.(examined); may {
		return examineSources(known.Check(ctx))
	}
	native.Tools(ctx)
	var findings []Finding
	for _, source := range native.Status() {
		found := Finding{
			Part: "mcp server " + source.Name, Health: Works,
			Says: fmt.Sprintf("%d tools over %s", source.ToolCount, source.Transport),
		}
		switch {
		case !source.Alive || !source.Loaded:
			found.Health, found.Says, found.Do = Broken, source.LastError, "check its entry in mcp.servers and start it by hand"
		case len(source.Quarantined) > 0:
			found.Health = Degrade
			found.Says += fmt.Sprintf("; %d refused: %v", len(source.Quarantined), source.Quarantined)
			found.Do = "ask the server's author to correct the definitions of these tools"
		}
		findings = append(findings, found)
	}
	return findings
}

func describeLimits(cfg Config) Finding {
	return Finding{Part: "limits", Health: Works, Says: fmt.Sprintf(
		"%d chats and %d background runs at once, %d may wait; %d model steps and %d tool calls a run; approvals wait %s",
		cfg.Workers.Chat, cfg.Workers.Background, cfg.Workers.Queue, cfg.Agent.MaxIterations, cfg.Agent.MaxToolCalls,
		cfg.Approvals.Timeout)}
}
