package relational

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Cancel records the wish to cancel, and ends a run that nobody drives with the closing made for it.
func (l *Ledger) Cancel(ctx context.Context, ref run.Ref, wish ledger.Cancellation) (run.Run, error) {
	const op = "cancel run"
	if wish.Reason == "" {
		wish.Reason = string(run.CodeCancelled)
	}
	closing, err := packClosing(ref, wish.Close)
	if err != nil {
		return run.Run{}, l.failure(op, err)
	}
	return write(ctx, l, op, func(t *Tx) (run.Run, error) {
		if err := t.cancel(ref, wish, closing); err != nil {
			return run.Run{}, err
		}
		return t.find(ref)
	})
}

// packClosing makes the batch ready that ends a run; nil when there is none.
func packClosing(ref run.Ref, closing *ledger.Closing) (*parcel, error) {
	if closing == nil {
		return nil, nil
	}
	if closing.Batch.Finish == nil {
		return nil, misuse("a closing must finish the run")
	}
	return pack(run.Fence{Ref: ref}, closing.Batch)
}

// standing is how a run stands while its row is locked.
type standing struct {
	place, next int64
	cancel      string
	over        bool
	driven      bool
}

const selectStanding = `
	SELECT place, next_seq, cancel, CASE WHEN finished_at IS NULL THEN 0 ELSE 1 END,
		CASE WHEN owner <> '' AND lease_until > ?3 THEN 1 ELSE 0 END
	FROM runs WHERE tenant = ?1 AND id = ?2`

// standing locks a run's row and says how the run stands.
func (t *Tx) standing(ref run.Ref) (s standing, err error) {
	var over, driven int64
	rows, err := t.Query(selectStanding+t.ledger.dialect.Lock, string(ref.Tenant), ref.ID, micros(t.now))
	err = fill(rows, err, &s.place, &s.next, &s.cancel, &over, &driven)
	s.over, s.driven = over != 0, driven != 0
	return s, orUnknown(err, unknownRun(t.op))
}

func (t *Tx) cancel(ref run.Ref, wish ledger.Cancellation, closing *parcel) error {
	s, err := t.standing(ref)
	if err != nil {
		return err
	}
	if _, err := t.answered(ref.Tenant, wish.Idempotency); err != nil || s.over {
		return err
	}
	if s.cancel == "" {
		if err := t.Later(`UPDATE runs SET cancel = ? WHERE place = ?`, wish.Reason, s.place); err != nil {
			return err
		}
		t.news = News{Changed: []run.Ref{ref}, Work: true}
	}
	if closing == nil || s.driven || s.next != wish.Close.NextSeq {
		return nil
	}
	_, err = closing.close(t, s.place)
	return err
}
