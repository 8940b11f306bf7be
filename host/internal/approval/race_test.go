package approval_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/approval"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

const patience = time.Minute

// bureau is a desk over a real store, whose clock the test sets.
type bureau struct {
	*testing.T
	path   string
	ledger *sqlite.Ledger
	desk   *approval.Desk

	mu  sync.Mutex
	now time.Time
}

type willing struct{}

func (willing) Recheck(context.Context, run.Run, run.Approval) error { return nil }

func newBureau(t *testing.T, now time.Time) *bureau {
	t.Helper()
	b := &bureau{T: t, path: filepath.Join(t.TempDir(), "ledger.db"), now: now.UTC().Truncate(time.Microsecond)}
	b.open()
	t.Cleanup(b.close)
	return b
}

func (b *bureau) open() {
	b.Helper()
	l, err := sqlite.Open(b.Context(), sqlite.Config{Path: b.path, Clock: b.clock})
	if err != nil {
		b.Fatal(err)
	}
	b.ledger = l
	b.desk = approval.New(approval.Config{Store: l, Runs: l, Rechecker: willing{}, Patience: patience})
}

func (b *bureau) close() {
	if err := b.ledger.Close(); err != nil {
		b.Error(err)
	}
}

func (b *bureau) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bureau) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// parked returns the approval that a parked run waits for.
func (b *bureau) parked(id string) run.Approval {
	b.Helper()
	r := run.Run{
		Ref: run.Ref{Tenant: "pska", ID: id}, SessionID: "session-" + id, Kind: run.Background, Status: run.Running,
		Owner: "node", Epoch: 1, Attempts: 1, Request: run.Request{ID: id},
	}
	r, err := b.ledger.Create(b.Context(), r, ledger.Door{Lease: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	a, err := b.desk.Open(b.Context(), run.Permission, run.Asked{
		Call: run.Call{Fence: r.Fence(), SessionID: r.SessionID, ID: "call"}, Tool: run.Tool{Name: "exec"}, Args: []byte(`{}`),
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.ledger.Append(b.Context(), r.Fence(), ledger.Batch{Approvals: []run.Approval{a}, Park: true}); err != nil {
		b.Fatal(err)
	}
	return a
}

func (b *bureau) get(id string) run.Approval {
	b.Helper()
	a, err := b.desk.Get(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// race lets fifty approve, deny and expire at once, while time runs out, and returns who heard that theirs counts.
func (b *bureau) race(a run.Approval) (approved, denied int) {
	var group sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for i := range 50 {
		group.Go(func() {
			<-start
			if i == 25 {
				b.pass(patience)
			}
			if i%3 == 2 {
				if _, err := b.desk.List(b.Context(), run.ApprovalFilter{ID: a.ID}); err != nil {
					b.Error(err)
				}
				return
			}
			got, err := b.desk.Answer(b.Context(), run.Answer{ID: a.ID, Approve: i%3 == 0, By: fmt.Sprint(i)})
			if err != nil && !run.IsCode(err, run.CodeApprovalSettled) {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && got.Status == run.Approved:
				approved++
			case err == nil:
				denied++
			}
		})
	}
	close(start)
	group.Wait()
	return approved, denied
}

func TestOfRacingAnswersAndExpiriesOneWinsInEachOfFiftyRounds(t *testing.T) {
	b := newBureau(t, time.Now())
	ends := map[run.ApprovalStatus]int{}
	for round := range 50 {
		a := b.parked(fmt.Sprintf("run-%d", round))
		approved, denied := b.race(a)
		got := b.get(a.ID)
		ends[got.Status]++
		if approved > 0 != (got.Status == run.Approved) || denied > 0 != (got.Status == run.Denied) || !got.Status.Settled() {
			t.Errorf("round %d: %d heard of an approval, %d of a denial, it is %s", round, approved, denied, got.Status)
		}
		r, err := b.ledger.Run(t.Context(), a.Run)
		if err != nil || r.Phase != run.Ready {
			t.Errorf("round %d: phase %q, error %v", round, r.Phase, err)
		}
	}
	t.Logf("50 rounds of 50: %v", ends)
}

func TestTheMachinesOwnClockExpiresNothing(t *testing.T) {
	for name, off := range map[string]time.Duration{"slow": time.Hour, "fast": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := newBureau(t, time.Now().Add(off)) // the store's; this machine's differs by an hour
			a := b.parked("run")
			b.pass(patience - time.Microsecond)
			if got := b.get(a.ID); got.Status != run.Pending {
				t.Errorf("%s before its time", got.Status)
			}
			b.pass(time.Microsecond)
			if got := b.get(a.ID); got.Status != run.Expired {
				t.Errorf("%s after its time", got.Status)
			}
		})
	}
}

func TestAnAnswerAtTheVeryExpiryIsTooLate(t *testing.T) {
	b := newBureau(t, time.Now())
	early, late := b.parked("early"), b.parked("late")
	b.pass(patience - time.Microsecond)
	if _, err := b.desk.Answer(t.Context(), run.Answer{ID: early.ID, Approve: true}); err != nil {
		t.Error(err)
	}
	b.pass(time.Microsecond)
	got, err := b.desk.Answer(t.Context(), run.Answer{ID: late.ID, Approve: true})
	if !run.IsCode(err, run.CodeApprovalSettled) || got.Status != run.Expired {
		t.Errorf("status %s, error %v", got.Status, err)
	}
}

func TestAnswersAndKeysOutliveARestart(t *testing.T) {
	b := newBureau(t, time.Now())
	a := b.parked("run")
	b.close()
	b.open()
	answer := run.Answer{ID: a.ID, Approve: true, By: "ops", Idempotency: run.Idempotency{Key: "k", Digest: "one"}}
	if _, err := b.desk.Answer(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	b.close()
	b.open()
	if got, err := b.desk.Answer(t.Context(), answer); err != nil || got.Status != run.Approved || got.ResolvedBy != "ops" {
		t.Errorf("again: %+v, error %v", got, err)
	}
	answer.Approve, answer.Idempotency.Digest = false, "two"
	if _, err := b.desk.Answer(t.Context(), answer); !run.IsCode(err, run.CodeKeyReused) {
		t.Errorf("error %v", err)
	}
}
