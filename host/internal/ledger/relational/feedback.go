package relational

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Feedback keeps what a reader said about a run, in place of what was said before.
func (l *Ledger) Feedback(ctx context.Context, said run.Feedback) error {
	const op = "keep feedback"
	if !said.Rating.Valid() {
		return l.failure(op, misuse("feedback without a rating"))
	}
	_, err := write(ctx, l, op, func(t *Tx) (done, error) {
		kept, err := t.Exec(`
			INSERT INTO feedback (run, rating, comment, at)
			SELECT place, ?, ?, ? FROM runs WHERE tenant = ? AND id = ? AND session_id = ?
			ON CONFLICT (run) DO UPDATE SET rating = excluded.rating, comment = excluded.comment, at = excluded.at`,
			string(said.Rating), said.Comment, micros(said.At), string(said.Tenant), said.ID, said.SessionID,
		)
		if err == nil && kept == 0 {
			err = unknownRun(op)
		}
		return done{}, err
	})
	return err
}

// FeedbackOn returns what was said last about a run, and whether anything was.
func (l *Ledger) FeedbackOn(ctx context.Context, ref run.Ref) (said run.Feedback, found bool, err error) {
	err = l.read(ctx, "read feedback", func(snapshot Session) error {
		var at int64
		said = run.Feedback{Ref: ref}
		rows, err := snapshot.Query(`
			SELECT r.session_id, f.rating, f.comment, f.at FROM feedback f JOIN runs r ON r.place = f.run
			WHERE r.tenant = ? AND r.id = ?`, string(ref.Tenant), ref.ID,
		)
		err = fill(rows, err, &said.SessionID, &said.Rating, &said.Comment, &at)
		said.At, found = fromMicros(at), err == nil
		if errors.Is(err, errNone) {
			return nil
		}
		return err
	})
	if err != nil || !found {
		return run.Feedback{}, false, err
	}
	return said, true, nil
}
