// Package gate is the one door to every tool. It promises that what a run may see is what it may execute, that no
// tool runs without a decision that was committed before, and that whoever fails to answer denies.
//
// What rules mean is left to policy, waiting for a person to the agent and the approval desk, and running a tool to
// the sources behind the gate: nobody else can reach them.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Source holds tools. Tools may load what is not loaded yet, and answers at once afterwards. Invoke is called by the
// gate alone, after a decision; it must end when ctx does. Its error is a failure of the source, not of the tool; what
// it says stays private unless it has a method SafeSentence() string, whose words model and client then read.
type Source interface {
	Tools(ctx context.Context) []run.Tool
	Invoke(ctx context.Context, tool run.Tool, call sdk.Call) (sdk.Result, error)
}

// Judge is a policy plugin. A judge in shadow is heard, but does not count. An error denies; when it has a method
// DenialCode() run.DenialCode, with that code.
type Judge interface {
	Name() string
	Digest() string
	Shadow() bool
	Wants(registered, raw string) bool
	Evaluate(ctx context.Context, question sdk.Question) (sdk.Opinion, error)
}

// Scoper is a scope plugin. Its errors deny as a Judge's do.
type Scoper interface {
	Name() string
	Digest() string
	Inject(ctx context.Context, request sdk.InjectRequest) (sdk.Injection, error)
	Filter(ctx context.Context, request sdk.FilterRequest) (sdk.Filtering, error)
}

// Recorder commits one audit record: Record under a run's fence, Note where there is no run. When it returns an error
// nothing was committed.
type Recorder interface {
	Record(ctx context.Context, fence run.Fence, record run.Audit) error
	Note(ctx context.Context, record run.Audit) error
}

// Config is what a gate is made of.
type Config struct {
	Sources     []Source // where two have a tool of the same name, the earlier one's counts
	Rules       *policy.Rules
	ExecGuard   Judge   // without it every exec is denied
	Judges      []Judge // asked in this order
	Scoper      Scoper  // without it every call that needs a scope is denied
	Recorder    Recorder
	ToolTimeout time.Duration    // of one call; default 60 s
	Clock       func() time.Time // default time.Now
	Log         *slog.Logger
}

// defaultToolTimeout is tools.timeout of a config that does not say.
const defaultToolTimeout = 60 * time.Second

// Gate is the door. It may be used from many goroutines. What it decides with may change, whole: see Enforce and
// Replace.
type Gate struct {
	cfg Config // its Regime's parts are those that the gate began with

	mu      sync.Mutex
	inForce *ruling
}

// PolicySnapshot is the policy in force.
type PolicySnapshot struct {
	Policy  []byte             // the effective rules, canonical JSON
	Hash    string             // of rules and plugins: "sha256:…"
	Plugins []run.PluginDigest // every plugin that may speak, in the order in which they are asked
}

// New returns a gate, or an error when a part without which it cannot keep its promise is missing.
func New(cfg Config) (*Gate, error) {
	if cfg.Rules == nil || cfg.Recorder == nil {
		return nil, fmt.Errorf("build gate: rules and recorder are required")
	}
	if cfg.ToolTimeout <= 0 {
		cfg.ToolTimeout = defaultToolTimeout
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gate{cfg: cfg}
	g.inForce = newRuling(Regime{
		Sources: cfg.Sources, Rules: cfg.Rules, ExecGuard: cfg.ExecGuard, Judges: cfg.Judges, Scoper: cfg.Scoper,
	}, newTenure())
	return g, nil
}

// snapshotOf names the policy of a regime. A plugin that speaks in shadow makes another policy than one that counts.
func snapshotOf(cfg Regime) PolicySnapshot {
	plugins, voices := []run.PluginDigest{}, []run.PluginDigest{}
	add := func(name, digest, voice string) {
		plugins = append(plugins, run.PluginDigest{Name: name, Digest: digest})
		voices = append(voices, run.PluginDigest{Name: voice + name, Digest: digest})
	}
	if cfg.ExecGuard != nil {
		add(cfg.ExecGuard.Name(), cfg.ExecGuard.Digest(), "builtin:")
	}
	if cfg.Scoper != nil {
		add(cfg.Scoper.Name(), cfg.Scoper.Digest(), "scope:")
	}
	for _, judge := range cfg.Judges {
		add(judge.Name(), judge.Digest(), voiceOf(judge))
	}
	effective := cfg.Rules.Effective()
	return PolicySnapshot{Policy: effective, Hash: policy.Snapshot(effective, voices), Plugins: plugins}
}

// voiceOf says in a decision's chain how a judge's opinion counts.
func voiceOf(judge Judge) string {
	if judge.Shadow() {
		return "shadow:"
	}
	return "plugin:"
}
