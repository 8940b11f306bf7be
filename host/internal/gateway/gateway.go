package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Gate is the one door to the tools.
type Gate interface {
	Visible(ctx context.Context, bound run.ToolPolicy) []run.Tool
	Check(ctx context.Context, call run.Call) gate.Verdict
	Do(ctx context.Context, verdict gate.Verdict, approval *run.Approval) run.CallOutcome
}

// Research says whether people let a plan go on: Released reports whether a live, unexpired and unrevoked grant of
// exactly this plan exists under which a campaign was admitted.
type Research interface {
	Released(ctx context.Context, workspace, planID string) (bool, error)
}

// Limits bound what one instance keeps. Zero fields mean the defaults.
type Limits struct {
	Calls       int // calls and results; default 64
	ResultBytes int // of one encoded result; default 262144
	Events      int // default 128
	Turns       int // default 32
}

// Config is what a gateway is made of.
type Config struct {
	Gate       Gate
	Research   Research
	Workspaces []string // ids that Activate takes
	Active     string   // the workspace to begin with; empty: none until Activate
	// Ready says what keeps a tool that stands behind the gate from working in a workspace: the code of a reason, such
	// as "snapshot_missing", or nothing. nil: what the gate shows is ready.
	Ready       func(ctx context.Context, workspace, toolID string) string
	Switched    func(workspace string) // told of every switch, in their order; may be nil, and must not switch itself
	Limits      Limits
	CallTimeout time.Duration    // of one call, judging included; default 30 s. The gate's own should not be shorter.
	Clock       func() time.Time // default time.Now
	Log         *slog.Logger
}

// The defaults of Config and Limits.
const (
	defaultCalls       = 64
	defaultResultBytes = 256 << 10
	defaultEvents      = 128
	defaultTurns       = 32
	defaultCallTimeout = 30 * time.Second
)

// Gateway keeps one active workspace's calls. It may be used from many goroutines; Close ends it.
type Gateway struct {
	cfg   Config
	tasks sync.WaitGroup // calls and turns under way

	switching sync.Mutex // held through a switch and the word of it: who hears of two hears of the last one last

	mu       sync.Mutex
	shelf    *shelf                             // of the active workspace; nil: none is active
	lost     map[string]int64                   // newest event that a switch took from a workspace
	sequence int64                              // of the newest event of this instance
	running  map[*entry]context.CancelCauseFunc // calls under way, of every workspace
	closed   bool
}

// New returns a gateway, or an error when a part is missing or the workspace to begin with is unknown.
func New(cfg Config) (*Gateway, error) {
	switch {
	case cfg.Gate == nil || cfg.Research == nil:
		return nil, errors.New("build gateway: gate and research are required")
	case cfg.Active != "" && !slices.Contains(cfg.Workspaces, cfg.Active):
		return nil, fmt.Errorf("build gateway: workspace %q is not configured", cfg.Active)
	}
	cfg.Workspaces = slices.Clone(cfg.Workspaces)
	cfg.Limits = cfg.Limits.orDefault()
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, defaultCallTimeout)
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{cfg: cfg, lost: map[string]int64{}, running: map[*entry]context.CancelCauseFunc{}}
	if cfg.Active != "" {
		g.shelf = newShelf(cfg.Active, 0)
	}
	return g, nil
}

func (l Limits) orDefault() Limits {
	return Limits{
		Calls: cmp.Or(l.Calls, defaultCalls), ResultBytes: cmp.Or(l.ResultBytes, defaultResultBytes),
		Events: cmp.Or(l.Events, defaultEvents), Turns: cmp.Or(l.Turns, defaultTurns),
	}
}

// Workspaces lists the ids that Activate takes, in their configured order. The caller must not change it.
func (g *Gateway) Workspaces() []string { return g.cfg.Workspaces }

// Active is the id of the active workspace; empty when there is none.
func (g *Gateway) Active() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shelf == nil {
		return ""
	}
	return g.shelf.workspace
}
