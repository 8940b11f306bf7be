package relational

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Time decides in the statement itself, so that no answer passes between a check and its use.
const resolveApproval = `
	UPDATE approvals SET status = ?1, resolved_at = ?2, resolved_by = ?3, resolution = ?4
	WHERE id = ?5 AND status = 'pending' AND CASE ?1
		WHEN 'approved' THEN expires_at > ?2
		WHEN 'denied' THEN expires_at > ?2
		WHEN 'expired' THEN expires_at <= ?2
		ELSE TRUE END
	RETURNING run`

// Resolve settles a pending approval. The time is the ledger's.
func (l *Ledger) Resolve(ctx context.Context, r run.Resolution) (a run.Approval, changed bool, err error) {
	const op = "resolve approval"
	if !r.Status.Valid() || !r.Status.Settled() {
		return run.Approval{}, false, fmt.Errorf("%s: %w", op, misuse("an approval cannot be settled as "+string(r.Status)))
	}
	answer, err := write(ctx, l, op, func(t *Tx) (answer, error) {
		changed, err := t.resolve(r)
		if err != nil {
			return answer{}, err
		}
		rows, err := t.Query(selectApprovals+` WHERE a.id = ?`, r.ID)
		a, err := first(rows, err, scanApproval)
		if changed {
			t.news.Changed = []run.Ref{a.Run}
		}
		return answer{a, changed}, orUnknown(err, unknownApproval(op))
	})
	return answer.approval, answer.changed, err
}

type answer struct {
	approval run.Approval
	changed  bool
}

func (t *Tx) resolve(r run.Resolution) (changed bool, err error) {
	rows, err := t.Query(
		resolveApproval, string(r.Status), micros(t.now), r.By, r.Reason, r.ID,
	)
	places, err := collect(rows, err, number)
	if err != nil || len(places) == 0 {
		return false, err
	}
	if err := t.tell(run.ApprovalSettled, `id = ?4`, r.ID); err != nil {
		return false, err
	}
	ready, err := t.Exec(
		`UPDATE runs SET phase = 'ready' WHERE place = ?1 AND phase = 'awaiting_approval'
			AND NOT EXISTS (SELECT 1 FROM approvals WHERE run = ?1 AND status = 'pending')`, places[0],
	)
	t.news.Work = ready > 0
	return true, err
}

// settle settles what is pending of the run, before the batch opens approvals of its own.
func (p *parcel) settle(t *Tx, r row) error {
	if p.batch.Settle == nil {
		return nil
	}
	return t.settleRun(r.place, *p.batch.Settle)
}

func (t *Tx) settleRun(place int64, r run.Resolution) error {
	if err := t.tell(run.ApprovalSettled, `run = ?4 AND status = 'pending'`, place); err != nil {
		return err
	}
	return t.Later(
		`UPDATE approvals SET status = ?, resolved_at = ?, resolved_by = ?, resolution = ?
			WHERE run = ? AND status = 'pending'`,
		string(r.Status), micros(t.now), r.By, r.Reason, place,
	)
}
