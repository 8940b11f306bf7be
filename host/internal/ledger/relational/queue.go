package relational

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// nextRun says about the row itself what the index runs_claimable says, word for word: looking for a run passes over
// those that are driven and over hardly anything else.
const nextRun = `
	SELECT place FROM runs AS next
	WHERE kind = ?4 AND finished_at IS NULL AND cancel = '' AND phase <> 'awaiting_approval'
		AND (owner = '' OR lease_until <= ?2) AND not_before <= ?2
		AND (in_turn = 0 OR next_seq > 0 OR NOT EXISTS (
			SELECT 1 FROM runs AS ahead
			WHERE ahead.tenant = next.tenant AND ahead.user_key = next.user_key
				AND ahead.session_id = next.session_id AND ahead.finished_at IS NULL AND ahead.place < next.place))
	ORDER BY created_at, place LIMIT 1`

// Pause is how long after its lease, in microseconds, a run that was claimed in vain that often is not claimed again.
const Pause = `CASE barren WHEN 0 THEN 0 WHEN 1 THEN 1000000 WHEN 2 THEN 2000000 WHEN 3 THEN 4000000 ELSE 8000000 END`

const (
	// Between these two stands the lock of the dialect.
	claimRun = `
	UPDATE runs SET status = 'running', phase = '', owner = ?1, epoch = epoch + 1, attempts = attempts + 1,
		started_at = COALESCE(started_at, ?2), lease_until = ?3, claimed_seq = next_seq, not_before = CASE WHEN owner <> '' THEN 1 ELSE 0 END,
		barren = CASE WHEN owner <> '' AND next_seq = claimed_seq THEN barren + 1 ELSE 0 END
	WHERE place = (` + nextRun
	claimed = `)
	RETURNING tenant, id, not_before`
	// Of a run that was left behind the claim says so in not_before, which then gets its own meaning back. Who left it
	// without a new event may do so again; any event ends the pause.
	pauseAfter = `
	UPDATE runs SET not_before = CASE barren WHEN 0 THEN 0 ELSE lease_until + ` + Pause + ` END
	WHERE tenant = ? AND id = ?`
)

// Claim takes the oldest run of a kind that nobody drives and that may go on.
func (l *Ledger) Claim(ctx context.Context, by ledger.Claimant) (run.Run, error) {
	const op = "claim run"
	if err := lasting(by.Owner, by.Lease); err != nil {
		return run.Run{}, l.failure(op, err)
	}
	statement := claimRun + l.dialect.Skip + claimed
	return write(ctx, l, op, func(t *Tx) (run.Run, error) {
		rows, err := t.Query(statement, by.Owner, micros(t.now), micros(t.now.Add(by.Lease)), string(by.Kind))
		var (
			ref  run.Ref
			left int64
		)
		if err := fill(rows, err, &ref.Tenant, &ref.ID, &left); err != nil {
			return run.Run{}, orUnknown(err, ledger.ErrEmpty)
		}
		if left != 0 {
			if err := t.Later(pauseAfter, string(ref.Tenant), ref.ID); err != nil {
				return run.Run{}, err
			}
		}
		t.news.Changed = []run.Ref{ref}
		r, err := t.find(ref)
		r.LeftBehind = left != 0
		return r, err
	})
}

// lasting refuses owners without a name or a time.
func lasting(owner string, lease time.Duration) error {
	switch {
	case owner == "":
		return misuse("a claim needs an owner")
	case lease < time.Microsecond:
		return misuse("a claim needs a lease")
	}
	return nil
}

const adrift = ` WHERE r.finished_at IS NULL AND r.cancel <> '' AND (r.owner = '' OR r.lease_until <= ?)
	ORDER BY r.created_at, r.place LIMIT ?`

// Adrift lists the cancelled runs that nobody drives, oldest first.
func (l *Ledger) Adrift(ctx context.Context, limit int) ([]run.Run, error) {
	var runs []run.Run
	err := l.read(ctx, "list runs adrift", func(snapshot Session) error {
		now, err := snapshot.Now()
		if err != nil {
			return err
		}
		rows, err := snapshot.Query(selectRuns+adrift, micros(now), max(limit, 0))
		runs, err = collect(rows, err, scanRun)
		return err
	})
	return runs, err
}
