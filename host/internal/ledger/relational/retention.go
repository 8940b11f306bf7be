package relational

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// One write removes at most so many runs, or other rows, so that no append waits long behind it.
const (
	pruneBatch = 16
	rowBatch   = 256
)

// Prune removes what is older than is kept, oldest first: first whole runs, then those that a tenant has too many of,
// then the events of runs that stay.
func (l *Ledger) Prune(ctx context.Context, keep ledger.Retention, limit int) (pruned ledger.Pruned, err error) {
	now, err := l.Now(ctx)
	if err != nil || limit <= 0 {
		return pruned, err
	}
	if keep.Runs > 0 {
		before := now.Add(-keep.Runs)
		if pruned.Runs, err = l.pruneRuns(ctx, limit, oldRuns, micros(before)); err != nil {
			return pruned, err
		}
		if err := l.pruneRows(ctx, before); err != nil {
			return pruned, err
		}
	}
	if keep.PerTenant > 0 {
		removed, err := l.pruneTenants(ctx, int64(keep.PerTenant), limit-pruned.Runs)
		pruned.Runs += removed
		if err != nil {
			return pruned, err
		}
	}
	if keep.Events > 0 {
		pruned.Compacted, err = l.compact(ctx, now.Add(-keep.Events), limit)
	}
	return pruned, err
}

const oldRuns = `
	DELETE FROM runs WHERE place IN (
		SELECT place FROM runs WHERE finished_at IS NOT NULL AND finished_at < ?1 ORDER BY finished_at LIMIT ?2)
	RETURNING tenant, id`

const tenantsOldest = `
	DELETE FROM runs WHERE place IN (
		SELECT place FROM runs WHERE tenant = ?1 AND finished_at IS NOT NULL ORDER BY finished_at, place LIMIT ?2)
	RETURNING tenant, id`

// pruneRuns removes at most limit of the runs that a statement chooses.
func (l *Ledger) pruneRuns(ctx context.Context, limit int, statement string, chosen any) (removed int, err error) {
	for removed < limit {
		size := min(pruneBatch, limit-removed)
		gone, err := write(ctx, l, "prune ledger", func(t *Tx) ([]run.Ref, error) {
			rows, err := t.Query(statement, chosen, size)
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

const crowdedTenants = `
	SELECT tenant, COUNT(*) FROM runs WHERE finished_at IS NOT NULL
	GROUP BY tenant HAVING COUNT(*) > ? ORDER BY tenant`

// crowded is a tenant with more finished runs than are kept.
type crowded struct {
	tenant string
	runs   int64
}

func (l *Ledger) pruneTenants(ctx context.Context, most int64, limit int) (removed int, err error) {
	var tenants []crowded
	err = l.read(ctx, "count runs of tenants", func(snapshot Session) error {
		rows, err := snapshot.Query(crowdedTenants, most)
		tenants, err = collect(rows, err, func(rows Rows) (c crowded, err error) {
			err = rows.Scan(&c.tenant, &c.runs)
			return c, err
		})
		return err
	})
	for _, c := range tenants {
		if err != nil || removed >= limit {
			break
		}
		var gone int
		gone, err = l.pruneRuns(ctx, int(min(c.runs-most, int64(limit-removed))), tenantsOldest, c.tenant)
		removed += gone
	}
	return removed, err
}

const (
	oldNotes = `
	DELETE FROM audits WHERE sequence IN (
		SELECT sequence FROM audits WHERE noted_id IS NOT NULL AND at < ? ORDER BY at LIMIT ?)`
	oldAnswers = `
	DELETE FROM answers WHERE (tenant, key) IN (SELECT tenant, key FROM answers WHERE at < ? ORDER BY at LIMIT ?)`
)

// pruneRows removes notes and keys of answers from before a time.
func (l *Ledger) pruneRows(ctx context.Context, before time.Time) error {
	for _, statement := range []string{oldNotes, oldAnswers} {
		for {
			gone, err := write(ctx, l, "prune ledger", func(t *Tx) (int64, error) {
				return t.Exec(statement, micros(before), rowBatch)
			})
			if err != nil {
				return err
			}
			if gone < rowBatch {
				break
			}
		}
	}
	return nil
}

// The last event stays: it says how the run ended.
const compactRuns = `
	UPDATE runs SET first_seq = next_seq - 1 WHERE place IN (
		SELECT place FROM runs WHERE finished_at IS NOT NULL AND first_seq < next_seq - 1 AND finished_at < ?1
		ORDER BY finished_at LIMIT ?2)
	RETURNING place, first_seq, tenant, id`

const countEventBytes = `
	UPDATE runs SET event_bytes = COALESCE((SELECT SUM(OCTET_LENGTH(payload)) FROM events WHERE run = ?1), 0)
	WHERE place = ?1`

// compacted is a run whose events go.
type compacted struct {
	place, first int64
	ref          run.Ref
}

// compact removes the events of runs that finished before a time, but for the last of each.
func (l *Ledger) compact(ctx context.Context, before time.Time, limit int) (done int, err error) {
	for done < limit {
		size := min(pruneBatch, limit-done)
		count, err := write(ctx, l, "compact ledger", func(t *Tx) (int, error) { return t.compact(before, size) })
		done += count
		if err != nil || count < size {
			return done, err
		}
	}
	return done, nil
}

func (t *Tx) compact(before time.Time, size int) (int, error) {
	rows, err := t.Query(compactRuns, micros(before), size)
	runs, err := collect(rows, err, func(rows Rows) (c compacted, err error) {
		err = rows.Scan(&c.place, &c.first, &c.ref.Tenant, &c.ref.ID)
		return c, err
	})
	if err != nil {
		return 0, err
	}
	for _, c := range runs {
		if err := t.Later(`DELETE FROM events WHERE run = ? AND sequence < ?`, c.place, c.first); err != nil {
			return 0, err
		}
		if err := t.Later(countEventBytes, c.place); err != nil {
			return 0, err
		}
		t.news.Changed = append(t.news.Changed, c.ref)
	}
	return len(runs), nil
}
