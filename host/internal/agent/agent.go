package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Gate is the one door to every tool.
type Gate interface {
	Visible(ctx context.Context, policy run.ToolPolicy) []run.Tool
	Tools(ctx context.Context) []run.Tool // every tool there is
	Check(ctx context.Context, call run.Call) gate.Verdict
	Do(ctx context.Context, verdict gate.Verdict, approval *run.Approval) run.CallOutcome
}

// Ledger is what the agent remembers by.
type Ledger interface {
	ledger.Notes
	Append(ctx context.Context, fence run.Fence, batch ledger.Batch) ([]run.Event, error)
	Events(ctx context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error)
	Approvals(ctx context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error)
	Audits(ctx context.Context, ref *run.Ref, after int64, limit int) ([]run.Audit, error)
	Turns(ctx context.Context, key run.SessionKey, most run.MemoryBounds) ([]run.Turn, error)
}

// Desk makes the record of a call that waits for a person. It does not store it: the agent does, with its event.
type Desk interface {
	Open(ctx context.Context, kind run.ApprovalKind, asked run.Asked) (run.Approval, error)
}

// Config is what an agent is made of. Zero limits mean the defaults.
type Config struct {
	Model          model.Client
	Gate           Gate
	Ledger         Ledger
	Desk           Desk
	System         string        // operator's words to the model; the standing instruction follows them
	MaxIterations  int           // model calls with tools in one run; 20
	MaxToolCalls   int           // in one run; 64
	MaxResultBytes int           // of one tool result shown to the model; 200000. The event keeps the whole text.
	PolicyHash     func() string // of the policy in force; nil leaves it out
	Log            *slog.Logger

	Skills       Skills // nil means none
	SkillBytes   int    // of the skills in one prompt; 131072
	MemoryTurns  int    // of a session that a run remembers; 20
	MemoryBytes  int    // of the same; 65536
	ContextBytes int    // of the text of one conversation before older parts of it are shortened; 400000

	Profiles map[string]Profile // the kinds of run that a request may name beside the plain one

	UncheckedAnswers bool                   // answers leave without a look for what they must not name
	RewriteTimeout   time.Duration          // for an answer to be put right by the model; 30 s
	MaxProgressBytes int                    // of text in one call's signs of life; 0 means that none are written
	Secret           func(text string) bool // reports whether text holds a secret that faces mask; nil means never
}

// Agent drives runs. It keeps nothing between two drives and may be used from many goroutines.
type Agent struct{ cfg Config }

const (
	defaultIterations  = 20
	defaultToolCalls   = 64
	defaultResultBytes = 200_000
	defaultSkills      = 128 << 10
	defaultTurns       = 20
	defaultMemory      = 64 << 10
	defaultContext     = 400_000
	defaultRewrite     = 30 * time.Second
)

// New returns an agent.
func New(cfg Config) *Agent {
	if cfg.MaxIterations <= 0 {
		cfg.MaxIterations = defaultIterations
	}
	if cfg.MaxToolCalls <= 0 {
		cfg.MaxToolCalls = defaultToolCalls
	}
	for _, limit := range []struct {
		set      *int
		standard int
	}{
		{&cfg.MaxResultBytes, defaultResultBytes},
		{&cfg.SkillBytes, defaultSkills},
		{&cfg.MemoryTurns, defaultTurns},
		{&cfg.MemoryBytes, defaultMemory},
		{&cfg.ContextBytes, defaultContext},
	} {
		if *limit.set <= 0 {
			*limit.set = limit.standard
		}
	}
	if cfg.RewriteTimeout <= 0 {
		cfg.RewriteTimeout = defaultRewrite
	}
	if cfg.PolicyHash == nil {
		cfg.PolicyHash = func() string { return "" }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Agent{cfg}
}

// Drive goes on with a run until it is finished or parked; a run without events begins. Whatever the model or a tool
// does wrong ends or goes on inside the run. An error means that nothing more was written: the cause of ctx when that
// ended, ledger.ErrFenced when the run belongs to a later claim, or a failure of the ledger. The result of a call that
// came back is written although ctx ended, unless its cause is ledger.ErrFenced.
func (a *Agent) Drive(ctx context.Context, r run.Run) (Outcome, error) {
	d, err := a.recall(ctx, r)
	if err != nil {
		return 0, orCause(ctx, err)
	}
	outcome, err := d.advance(ctx)
	if errors.Is(err, ledger.ErrFenced) {
		return 0, err
	}
	if err != nil {
		return 0, orCause(ctx, err)
	}
	return outcome, nil
}

// orCause prefers the reason why a context ended to the error that its end produced.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
