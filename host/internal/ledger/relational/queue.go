package relational

import (
	"context"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// The conditions are those of the index runs_claimable, word for word, so that claiming never scans.
const claimRun = `
	UPDATE runs SET status = 'running', phase = '', owner = ?1, keeper = ?1, epoch = epoch + 1,
		attempts = attempts + 1, started_at = COALESCE(started_at, ?2)
	WHERE place = (
		SELECT place FROM runs AS next
		WHERE kind = 'background' AND owner = '' AND cancel = '' AND (status = 'queued' OR phase = 'ready')
			AND (in_turn = 0 OR status <> 'queued' OR NOT EXISTS (
				SELECT 1 FROM runs AS ahead
				WHERE ahead.tenant = next.tenant AND ahead.user_key = next.user_key
					AND ahead.session_id = next.session_id AND ahead.finished_at IS NULL AND ahead.place < next.place))
		ORDER BY created_at, place LIMIT 1)
	RETURNING tenant, id`

var errNoOwner = errors.New("a claim needs an owner")

// Claim takes the oldest background run that may be driven.
func (l *Ledger) Claim(ctx context.Context, owner string) (run.Run, error) {
	const op = "claim run"
	if owner == "" {
		return run.Run{}, fmt.Errorf("%s: %w", op, errNoOwner)
	}
	return write(ctx, l, op, func(t *Tx) (run.Run, error) {
		rows, err := t.Query(claimRun, owner, micros(t.now))
		ref, err := first(rows, err, scanRef)
		if err != nil {
			return run.Run{}, orUnknown(err, ledger.ErrEmpty)
		}
		t.news.Changed = []run.Ref{ref}
		return t.find(ref, op)
	})
}

func scanRef(rows Rows) (ref run.Ref, err error) {
	err = rows.Scan(&ref.Tenant, &ref.ID)
	return ref, err
}

const seizeRun = `
	UPDATE runs SET phase = '', owner = ?1, keeper = ?1, epoch = epoch + 1, attempts = attempts + 1,
		started_at = CASE status WHEN 'running' THEN COALESCE(started_at, ?2) ELSE started_at END
	WHERE tenant = ?3 AND id = ?4 AND finished_at IS NULL AND owner <> ?1`

// Seize takes one run that nobody alive drives. Every owner but the one that asks is gone: this process holds the
// lock.
func (l *Ledger) Seize(ctx context.Context, ref run.Ref, owner string) (run.Run, error) {
	const op = "seize run"
	if owner == "" {
		return run.Run{}, fmt.Errorf("%s: %w", op, errNoOwner)
	}
	return write(ctx, l, op, func(t *Tx) (run.Run, error) {
		changed, err := t.Exec(seizeRun, owner, micros(t.now), string(ref.Tenant), ref.ID)
		if err != nil {
			return run.Run{}, err
		}
		r, err := t.find(ref, op)
		switch {
		case err != nil:
			return run.Run{}, err
		case changed == 0 && r.Status.Terminal():
			return run.Run{}, ledger.ErrFenced
		case changed == 0:
			return run.Run{}, ledger.ErrOwned
		}
		t.news.Changed = []run.Ref{ref}
		return r, nil
	})
}

const cancelRun = `UPDATE runs SET cancel = ? WHERE tenant = ? AND id = ? AND finished_at IS NULL AND cancel = ''`

// Cancel records the wish to cancel. A wish without a reason is recorded as "cancelled".
func (l *Ledger) Cancel(ctx context.Context, ref run.Ref, reason string) (run.Run, error) {
	const op = "cancel run"
	if reason == "" {
		reason = string(run.CodeCancelled)
	}
	return write(ctx, l, op, func(t *Tx) (run.Run, error) {
		changed, err := t.Exec(cancelRun, reason, string(ref.Tenant), ref.ID)
		if err != nil {
			return run.Run{}, err
		}
		if changed > 0 {
			t.news.Changed, t.news.Work = []run.Ref{ref}, true
		}
		return t.find(ref, op)
	})
}

// Driven by an incarnation that is gone; a chat run whose connection went with the incarnation that drove it last;
// cancelled while nobody drove it, so that it is never claimed.
const adrift = ` WHERE r.status IN ('queued', 'running') AND (
		(r.owner <> '' AND r.owner <> ?1)
		OR (r.owner = '' AND r.kind = 'chat' AND r.keeper <> '' AND r.keeper <> ?1)
		OR (r.owner = '' AND r.cancel <> ''))
	ORDER BY r.created_at, r.place`

// Adrift lists the runs that nobody will drive again, oldest first.
func (l *Ledger) Adrift(ctx context.Context, owner string) ([]run.Run, error) {
	var runs []run.Run
	err := l.read(ctx, "list runs adrift", func(snapshot Session) error {
		rows, err := snapshot.Query(selectRuns+adrift, owner)
		runs, err = collect(rows, err, scanRun)
		return err
	})
	return runs, err
}
