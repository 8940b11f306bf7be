// Package approval keeps the desk where dangerous calls wait for a person or for time. It promises that of any number
// of racing answers exactly one counts, that an unanswered call is denied, and that nothing is approved that today's
// policy refuses.
//
// Who may answer is left to the faces, what an answer does to the run to ledger, agent and gate. The desk holds nothing
// about any approval itself: the store does, so a restart loses none and a hundred thousand cost the process nothing.
// Whether an approval is over is judged by the store's time, never by this machine's.
package approval

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Store keeps approvals; the ledger does.
type Store interface {
	Approval(ctx context.Context, id string) (run.Approval, error)
	Approvals(ctx context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error)
	Resolve(ctx context.Context, r run.Resolution) (a run.Approval, changed bool, err error)
	// Deadlines returns when pending approvals expire, the soonest first, at most limit, and the store's time.
	Deadlines(ctx context.Context, limit int) (now time.Time, next []run.Deadline, err error)
	// Now returns the store's time.
	Now(ctx context.Context) (time.Time, error)
}

// Runs reads runs; the ledger does.
type Runs interface {
	Run(ctx context.Context, ref run.Ref) (run.Run, error)
}

// Rechecker judges a waiting call once more; the gate does. A *run.Error with CodeApprovalStale or CodePolicyDenied
// means that the call may not run any more.
type Rechecker interface {
	Recheck(ctx context.Context, r run.Run, approval run.Approval) error
}

// Config is what a desk is made of. Store, Runs and Rechecker are required.
type Config struct {
	Store     Store
	Runs      Runs
	Rechecker Rechecker
	Patience  time.Duration // how long a call waits; default 300 s
	Log       *slog.Logger
}

// defaultPatience is the seed's: "The first version defaults to a 300 second timeout."
const defaultPatience = 300 * time.Second

// ReasonTimeout is the resolution_reason of an approval that nobody answered in time.
const ReasonTimeout = "approval_timeout"

// Desk answers and expires approvals. It may be used from many goroutines.
type Desk struct {
	cfg   Config
	nudge chan struct{}
}

// New returns a desk. Watch must run for approvals to expire on time; without it they expire when they are read.
func New(cfg Config) *Desk {
	if cfg.Patience <= 0 {
		cfg.Patience = defaultPatience
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{cfg: cfg, nudge: make(chan struct{}, 1)}
}

// Open returns the record of a call that waits from now on. It is not stored: the agent commits it together with its
// ask_user event.
func (d *Desk) Open(ctx context.Context, kind run.ApprovalKind, asked run.Asked) (run.Approval, error) {
	now, err := d.cfg.Store.Now(ctx)
	if err != nil {
		return run.Approval{}, fmt.Errorf("open approval: %w", err)
	}
	reason := asked.Reason
	if reason == "" {
		reason = asked.Decision.Reason
	}
	return run.Approval{
		ID:         run.NewID("approval-"),
		Kind:       kind,
		Run:        asked.Call.Fence.Ref,
		SessionID:  asked.Call.SessionID,
		UserKey:    asked.Call.Identity.UserKey,
		ToolCallID: asked.Call.ID,
		ToolName:   asked.Tool.Name,
		Args:       asked.Args,
		ArgsDigest: run.Digest(asked.Args),
		ToolDigest: asked.Tool.Digest,
		Reason:     reason,
		Decision:   asked.Decision,
		Status:     run.Pending,
		Timeout:    d.cfg.Patience,
		CreatedAt:  now,
		ExpiresAt:  now.Add(d.cfg.Patience),
	}, nil
}

// Get returns one approval as it is now: one that is due is expired first.
func (d *Desk) Get(ctx context.Context, id string) (run.Approval, error) {
	a, err := d.cfg.Store.Approval(ctx, id)
	if err != nil {
		return run.Approval{}, err
	}
	return d.expireIfDue(ctx, a)
}

// List returns approvals as they are now: those that are due are expired first.
func (d *Desk) List(ctx context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error) {
	if _, err := d.expireDue(ctx); err != nil {
		return run.Page[run.Approval]{}, err
	}
	return d.cfg.Store.Approvals(ctx, filter)
}
