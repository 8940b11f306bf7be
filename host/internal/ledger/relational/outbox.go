package relational

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// A notice is committed with what it tells, so that neither is there without the other.
const insertNotice = `
	INSERT INTO outbox (id, approval, kind, created_at, due_at)
	SELECT id || ?1, id, ?2, ?3, ?3 FROM approvals WHERE `

// tell stores a notice for each approval that the condition selects, when anybody is to be told at all.
func (t *Tx) tell(kind run.NoticeKind, condition string, arg any) error {
	if !t.ledger.outbox {
		return nil
	}
	suffix := ":requested"
	if kind == run.ApprovalSettled {
		suffix = ":settled"
	}
	added, err := t.Exec(insertNotice+condition, suffix, string(kind), micros(t.now), arg)
	t.news.Mail = t.news.Mail || added > 0
	return err
}

const selectNotices = `
	SELECT o.id, o.kind, o.approval, o.created_at, o.attempts FROM outbox o
	WHERE o.due_at <= ? ORDER BY o.due_at, o.place LIMIT ?`

// Due returns notices that may be tried, each with its approval as it is now.
func (l *Ledger) Due(ctx context.Context, at time.Time, limit int) ([]run.Notice, error) {
	var due []run.Notice
	err := l.read(ctx, "list due notices", func(snapshot Session) error {
		rows, err := snapshot.Query(selectNotices, micros(at), limit)
		due, err = collect(rows, err, scanNotice)
		for i := range due {
			if err != nil {
				return err
			}
			rows, failed := snapshot.Query(selectApprovals+` WHERE a.id = ?`, due[i].Approval.ID)
			due[i].Approval, err = first(rows, failed, scanApproval)
		}
		return err
	})
	return due, err
}

func scanNotice(rows Rows) (n run.Notice, err error) {
	var created int64
	err = rows.Scan(&n.ID, &n.Kind, &n.Approval.ID, &created, &n.Attempts)
	n.CreatedAt = fromMicros(created)
	return n, err
}

// Postpone records a try that failed, and when the next may be.
func (l *Ledger) Postpone(ctx context.Context, id string, next time.Time) error {
	_, err := write(ctx, l, "postpone notice", func(t *Tx) (done, error) {
		return done{}, t.Later(
			`UPDATE outbox SET attempts = attempts + 1, due_at = ? WHERE id = ?`, micros(next), id,
		)
	})
	return err
}

// Forget removes a notice that was delivered or given up.
func (l *Ledger) Forget(ctx context.Context, id string) error {
	_, err := write(ctx, l, "forget notice", func(t *Tx) (done, error) {
		return done{}, t.Later(`DELETE FROM outbox WHERE id = ?`, id)
	})
	return err
}
