// Package audit keeps the books about calls: one record per decision, committed before the call leaves, and one per
// outcome. It promises that a record that was accepted is stored, under the fence of the run's present owner where there is
// a run, and that books hold digests and decisions, never arguments or results.
//
// What is decided is left to the gate, how records are stored to the ledger.
package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Writer is the part of the ledger that writes.
type Writer interface {
	Append(ctx context.Context, fence run.Fence, batch ledger.Batch) ([]run.Event, error)
	Note(ctx context.Context, record run.Audit) error
}

// Recorder writes records to the ledger. It may be used from many goroutines.
type Recorder struct{ ledger Writer }

// New returns a recorder over a ledger.
func New(ledger Writer) *Recorder { return &Recorder{ledger} }

// ErrIncomplete reports a record that does not say what it must. It is a bug of the caller, and nothing is stored.
var ErrIncomplete = errors.New("incomplete audit record")

// Record commits one record under the run's fence. It returns after the commit; with an error nothing was stored,
// and ledger.ErrFenced means that the writer does not own the run any more.
func (r *Recorder) Record(ctx context.Context, fence run.Fence, record run.Audit) error {
	if record.Run != fence.Ref {
		return fmt.Errorf("%w: it is about another run", ErrIncomplete)
	}
	if err := complete(record); err != nil {
		return err
	}
	if _, err := r.ledger.Append(ctx, fence, ledger.Batch{Audits: []run.Audit{record}}); err != nil {
		return fmt.Errorf("append audit record: %w", err)
	}
	return nil
}

// Note commits one record of a call that belongs to no run. It returns after the commit; with an error nothing was
// stored.
func (r *Recorder) Note(ctx context.Context, record run.Audit) error {
	if record.Run.ID == "" {
		return fmt.Errorf("%w: nothing says what the call belonged to", ErrIncomplete)
	}
	if err := complete(record); err != nil {
		return err
	}
	if err := r.ledger.Note(ctx, record); err != nil {
		return fmt.Errorf("note audit record: %w", err)
	}
	return nil
}

// complete checks that a record can be understood later, by itself.
func complete(record run.Audit) error {
	switch {
	case record.At.IsZero():
		return fmt.Errorf("%w: no time", ErrIncomplete)
	case record.Stage == run.Decided && !json.Valid(record.Decision):
		return fmt.Errorf("%w: no decision", ErrIncomplete)
	case record.Stage == run.Ended && record.ResultDigest == "":
		return fmt.Errorf("%w: no result digest", ErrIncomplete)
	case record.Stage != run.Decided && record.Stage != run.Ended:
		return fmt.Errorf("%w: unknown stage %q", ErrIncomplete, record.Stage)
	}
	return nil
}
