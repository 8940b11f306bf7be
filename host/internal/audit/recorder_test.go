package audit

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

type fakeLedger struct {
	err     error
	fences  []run.Fence
	batches []ledger.Batch
	notes   []run.Audit
}

func (l *fakeLedger) Note(_ context.Context, record run.Audit) error {
	if l.err != nil {
		return l.err
	}
	l.notes = append(l.notes, record)
	return nil
}

func (l *fakeLedger) Append(_ context.Context, fence run.Fence, batch ledger.Batch) ([]run.Event, error) {
	if l.err != nil {
		return nil, l.err
	}
	l.fences, l.batches = append(l.fences, fence), append(l.batches, batch)
	return nil, nil
}

var (
	fence    = run.Fence{Ref: run.Ref{Tenant: "t", ID: "r"}, Owner: "me", Epoch: 3}
	decision = run.Audit{At: time.Unix(1, 0), Stage: run.Decided, Run: fence.Ref, Decision: json.RawMessage(`{}`)}
	outcome  = run.Audit{At: time.Unix(1, 0), Stage: run.Ended, Run: fence.Ref, ResultDigest: "sha256:0"}
)

func TestARecordIsAppendedUnderTheFence(t *testing.T) {
	for _, record := range []run.Audit{decision, outcome} {
		books := &fakeLedger{}
		if err := New(books).Record(context.Background(), fence, record); err != nil {
			t.Fatal(err)
		}
		want := []ledger.Batch{{Audits: []run.Audit{record}}}
		if diff := cmp.Diff(want, books.batches); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]run.Fence{fence}, books.fences); diff != "" {
			t.Errorf("fences (-want +got):\n%s", diff)
		}
	}
}

func TestARecordOfAnOwnerThatWasReplacedIsRefused(t *testing.T) {
	err := New(&fakeLedger{err: ledger.ErrFenced}).Record(context.Background(), fence, decision)
	if !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("error = %v, want ErrFenced", err)
	}
}

func TestAnIncompleteRecordIsNotStored(t *testing.T) {
	cases := map[string]func(*run.Audit){
		"about another run":      func(a *run.Audit) { a.Run.ID = "other" },
		"without a time":         func(a *run.Audit) { a.At = time.Time{} },
		"without a decision":     func(a *run.Audit) { a.Decision = nil },
		"with a broken decision": func(a *run.Audit) { a.Decision = json.RawMessage(`{`) },
		"of an unknown stage":    func(a *run.Audit) { a.Stage = "maybe" },
		"an outcome of nothing":  func(a *run.Audit) { a.Stage = run.Ended },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			books, record := &fakeLedger{}, decision
			spoil(&record)
			err := New(books).Record(context.Background(), fence, record)
			if !errors.Is(err, ErrIncomplete) || len(books.batches) > 0 {
				t.Errorf("error = %v, batches = %v", err, books.batches)
			}
		})
	}
}

func TestANoteIsStoredUnderNoFence(t *testing.T) {
	for _, record := range []run.Audit{decision, outcome} {
		books := &fakeLedger{}
		if err := New(books).Note(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]run.Audit{record}, books.notes); diff != "" || len(books.fences) > 0 {
			t.Errorf("fences %v, notes (-want +got):\n%s", books.fences, diff)
		}
	}
}

func TestANoteThatIsNotStoredIsAnError(t *testing.T) {
	err := New(&fakeLedger{err: ledger.ErrClosed}).Note(t.Context(), decision)
	if !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("error = %v, want ErrClosed", err)
	}
}

func TestAnIncompleteNoteIsNotStored(t *testing.T) {
	cases := map[string]func(*run.Audit){
		"of nothing":            func(a *run.Audit) { a.Run.ID = "" },
		"without a time":        func(a *run.Audit) { a.At = time.Time{} },
		"without a decision":    func(a *run.Audit) { a.Decision = nil },
		"of an unknown stage":   func(a *run.Audit) { a.Stage = "maybe" },
		"an outcome of nothing": func(a *run.Audit) { a.Stage = run.Ended },
	}
	for name, spoil := range cases {
		books, record := &fakeLedger{}, decision
		spoil(&record)
		if err := New(books).Note(t.Context(), record); !errors.Is(err, ErrIncomplete) || len(books.notes) > 0 {
			t.Errorf("%s: error = %v, notes = %v", name, err, books.notes)
		}
	}
}
