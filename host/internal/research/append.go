package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// errReplayed says that a request was answered before.
var errReplayed = errors.New("request was answered before")

// attempts bounds how often an entry is tried while others come between: each of them was somebody else's success.
const attempts = 1000

// add appends what a rule makes of the present state, and asks the rule again whenever another entry came between.
// Its error is errReplayed when the key was used for the same request.
func (d *Desk) add(ctx context.Context, of run.ResearchEntry, rule func(state) (any, error)) error {
	for range attempts {
		if err := d.replayed(ctx, of); err != nil {
			return err
		}
		after, err := d.tryAdd(ctx, of, rule)
		if err == nil || !errors.Is(err, ledger.ErrFenced) && !errors.Is(err, ledger.ErrExists) {
			return err
		}
		d.cfg.Log.Debug("research entry is tried again", slog.Int64("after", after))
	}
	return fmt.Errorf("add research: %w", ledger.ErrFenced)
}

func (d *Desk) tryAdd(ctx context.Context, of run.ResearchEntry, rule func(state) (any, error)) (after int64, err error) {
	s, err := d.load(ctx, of.Workspace)
	if of.Kind == run.ResearchPlan && errors.Is(err, errDamaged) {
		s, err = d.beyondDamage(ctx, of.Workspace)
	}
	if err != nil {
		return 0, err
	}
	made, err := rule(s)
	if err != nil {
		return s.last, err
	}
	if of.Body, err = json.Marshal(made); err != nil {
		return s.last, fmt.Errorf("encode research: %w", err)
	}
	if len(of.Body) > d.cfg.Limits.EntryBytes {
		return s.last, refuse(CodeLimit, "The request is too large to be kept.")
	}
	of.At = d.now()
	if _, err := d.cfg.Store.AddResearch(ctx, s.last, of); err != nil {
		return s.last, fmt.Errorf("add research: %w", err)
	}
	return s.last, nil
}

// beyondDamage is where a new plan may be added when what is there cannot be understood: it makes all of that worthless.
func (d *Desk) beyondDamage(ctx context.Context, workspace string) (state, error) {
	entries, err := d.cfg.Store.Research(ctx, workspace)
	if err != nil || len(entries) == 0 {
		return state{}, fmt.Errorf("read research: %w", err)
	}
	return state{last: entries[len(entries)-1].Sequence}, nil
}

// replayed looks a request's key up: errReplayed when it was answered, a conflict when the key is another request's.
func (d *Desk) replayed(ctx context.Context, of run.ResearchEntry) error {
	if of.Key == "" {
		return nil
	}
	earlier, err := d.cfg.Store.ResearchKeyed(ctx, of.Workspace, of.Key)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return nil
	case err != nil:
		return fmt.Errorf("read research: %w", err)
	case earlier.Digest != of.Digest:
		return refuse(CodeConflict, "The idempotency key belongs to another request.")
	}
	return errReplayed
}

// requested begins the entry of a request. Its digest tells requests of one key apart.
func requested(workspace string, kind run.ResearchKind, key string, content any) (run.ResearchEntry, error) {
	raw, err := json.Marshal([]any{kind, content})
	if err != nil {
		return run.ResearchEntry{}, fmt.Errorf("encode research: %w", err)
	}
	return run.ResearchEntry{Workspace: workspace, Kind: kind, Key: key, Digest: run.Digest(raw)}, nil
}
