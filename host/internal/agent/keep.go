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

// keepTimeout is how long a result is tried to be committed after its run was stopped: what comes after that waits for
// it.
const keepTimeout = commitTimeout / 2

// keep commits the result of a call. What came back of one that left is known here and nowhere else, and without it
// nobody would know whether the call took effect: it is committed although the run was stopped meanwhile, and where the
// run is another's or over, it is noted in the books at least. The reason of a stop is returned when that is done.
func (d *drive) keep(ctx context.Context, callID string, batch ledger.Batch) error {
	keeping, stop := ctx, func() {}
	if len(batch.Audits) > 0 {
		keeping, stop = outlive(ctx)
	}
	defer stop()
	err := d.commit(keeping, callID, batch)
	if errors.Is(err, ledger.ErrFenced) {
		d.note(ctx, batch.Audits)
	}
	if err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// outlive returns a context that ends keepTimeout after ctx, and at once when the run is another's. Its cause is that
// of ctx.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, ledger.ErrFenced) {
			end(cause)
			return
		}
		time.AfterFunc(keepTimeout, func() { end(cause) })
	})
	if cause := context.Cause(ctx); errors.Is(cause, ledger.ErrFenced) {
		end(cause)
	}
	return longer, func() {
		unbind()
		end(nil)
	}
}

// commit appends a batch with a result, again and again while the store is away. ctx bounds it.
func (d *drive) commit(ctx context.Context, callID string, batch ledger.Batch) error {
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

// note writes the lines about a call of a run that takes no event any more.
func (d *drive) note(ctx context.Context, records []run.Audit) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer stop()
	for _, record := range records {
		if err := d.cfg.Ledger.Note(ctx, record); err != nil {
			d.cfg.Log.Error("outcome not recorded", slog.String("run_id", d.run.ID), slog.Any("error", err))
		}
	}
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
