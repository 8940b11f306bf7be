package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// keepPause is the time between two tries to commit a result.
const keepPause = 250 * time.Millisecond

// keep commits the result of a call that ran, again and again while the store is away: what came back is known here and
// nowhere else, and without it nobody would know whether the call took effect. The claim bounds it: ctx ends with it.
func (d *drive) keep(ctx context.Context, callID string, batch ledger.Batch) error {
	err := d.append(ctx, batch)
	for isAway(err) {
		d.cfg.Log.Warn("result not stored yet", slog.String("run_id", d.run.ID), slog.Any("error", err))
		if !pauseUnless(ctx.Done(), keepPause) {
			return context.Cause(ctx)
		}
		var stored bool
		if stored, err = d.stored(ctx, callID); stored {
			return nil
		}
		if err == nil {
			err = d.append(ctx, batch)
		}
	}
	return err
}

// stored reports whether the log has the result of a call after all, and hears what is new there.
func (d *drive) stored(ctx context.Context, callID string) (bool, error) {
	events, err := d.cfg.Ledger.Events(ctx, d.run.Ref, d.story.last, pageSize)
	if err != nil {
		return false, err
	}
	found := slices.ContainsFunc(events, func(e run.Event) bool {
		return e.Kind == run.ToolResult && e.ToolCallID == callID
	})
	return found, d.story.hear(events)
}

// isAway reports whether a write failed in a way that may pass.
func isAway(err error) bool {
	return err != nil && !errors.Is(err, ledger.ErrFenced) &&
		(run.IsCode(err, run.CodeStore) || errors.Is(err, context.DeadlineExceeded))
}
