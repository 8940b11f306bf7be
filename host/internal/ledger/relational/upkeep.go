package relational

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// pruneBatch is how many runs one write removes, and noteBatch how many notes, so that no append waits long behind it.
const (
	pruneBatch = 16
	noteBatch  = 256
)

// Prune removes runs that finished before the time, oldest first, with all that belongs to them, and then notes.
func (l *Ledger) Prune(ctx context.Context, keep ledger.Retention, limit int) (ledger.Pruned, error) {
	var pruned ledger.Pruned
	now, err := l.Now(ctx)
	if err != nil || keep.Runs <= 0 {
		return pruned, err
	}
	before := now.Add(-keep.Runs)
	if pruned.Runs, err = l.pruneRuns(ctx, before, limit); err != nil || limit <= 0 {
		return pruned, err
	}
	return pruned, l.pruneNotes(ctx, before)
}

func (l *Ledger) pruneNotes(ctx context.Context, before time.Time) error {
	for {
		gone, err := write(ctx, l, "prune notes", func(t *Tx) (int64, error) {
			return t.Exec(pruneNotes, micros(before), noteBatch)
		})
		if err != nil || gone < noteBatch {
			return err
		}
	}
}

const pruneNotes = `
	DELETE FROM audits WHERE sequence IN (
		SELECT sequence FROM audits WHERE noted_id IS NOT NULL AND at < ? ORDER BY at LIMIT ?)`

func (l *Ledger) pruneRuns(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	for removed < limit {
		size := min(pruneBatch, limit-removed)
		gone, err := write(ctx, l, "prune ledger", func(t *Tx) ([]run.Ref, error) {
			rows, err := t.Query(
				`DELETE FROM runs WHERE place IN (
					SELECT place FROM runs WHERE finished_at IS NOT NULL AND finished_at < ?
					ORDER BY finished_at LIMIT ?)
				RETURNING tenant, id`, micros(before), size,
			)
			t.news.Changed, err = collect(rows, err, scanRef)
			return t.news.Changed, err
		})
		removed += len(gone)
		if err != nil || len(gone) < size {
			return removed, err
		}
	}
	return removed, nil
}

// Ping commits a write of one number.
func (l *Ledger) Ping(ctx context.Context) error {
	_, err := write(ctx, l, "ping ledger", func(t *Tx) (done, error) {
		return done{}, t.Later(`UPDATE pulse SET at = ? WHERE id = 1`, micros(t.now))
	})
	return err
}
