package relational

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Time decides in the statement itself, so that no answer passes between a check and its use.
const resolveApproval = `
	UPDATE approvals SET status = ?1, resolved_at = ?2, resolved_by = ?3, resolution = ?4, choice = ?6
	WHERE id = ?5 AND status = 'pending' AND CASE ?1
		WHEN 'approved' THEN expires_at > ?2
		WHEN 'denied' THEN expires_at > ?2
		WHEN 'expired' THEN expires_at <= ?2
		ELSE TRUE END`

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

// asking locks the row of the run that an approval belongs to. Of two last answers at once the later thus sees the
// earlier, and makes the run ready.
func (t *Tx) asking(approval string) (place int64, tenant run.TenantKey, err error) {
	rows, err := t.Query(
		`SELECT place, tenant FROM runs WHERE place = (SELECT run FROM approvals WHERE id = ?)`+t.ledger.dialect.Lock,
		approval,
	)
	err = fill(rows, err, &place, &tenant)
	return place, tenant, orUnknown(err, unknownApproval(t.op))
}

func (t *Tx) resolve(r run.Resolution) (changed bool, err error) {
	place, tenant, err := t.asking(r.ID)
	if err != nil {
		return false, err
	}
	if before, err := t.known(tenant, r.Idempotency); err != nil || before {
		return false, err
	}
	settled, err := t.Exec(
		resolveApproval, string(r.Status), micros(t.now), r.By, r.Reason, r.ID, string(r.Choice),
	)
	if err != nil || settled == 0 {
		return false, err
	}
	if _, err := t.answered(tenant, r.Idempotency); err != nil {
		return false, err
	}
	if err := t.tell(run.ApprovalSettled, `id = ?4`, r.ID); err != nil {
		return false, err
	}
	ready, err := t.Exec(makeReady, place)
	t.news.Work = ready > 0
	return true, err
}

const (
	makeReady = `
	UPDATE runs SET phase = 'ready' WHERE place = ?1 AND phase = 'awaiting_approval'
		AND NOT EXISTS (SELECT 1 FROM approvals WHERE run = ?1 AND status = 'pending')`
	settleOfRun = `
	UPDATE approvals SET status = ?, resolved_at = ?, resolved_by = ?, resolution = ?, choice = ?
	WHERE run = ? AND status = 'pending'`
)

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
		settleOfRun, string(r.Status), micros(t.now), r.By, r.Reason, string(r.Choice), place,
	)
}
