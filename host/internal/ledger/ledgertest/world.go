package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

const (
	node    = "node-1"        // the incarnation that lives
	lease   = 240 * time.Hour // longer than any test lets pass, unless it says so
	tenant  = run.TenantKey("pska")
	patient = time.Minute // bounds a wait that a broken driver would never end
)

// world is one test's ledger, time and shorthands. A shorthand fails the test when the ledger does not do its part.
type world struct {
	*testing.T
	ledger.Ledger
	clock *clock
	open  Opener
}

func newWorld(t *testing.T, open Opener) *world {
	w := &world{T: t, clock: &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}, open: open}
	w.Ledger = open(t, w.clock.Now)
	t.Cleanup(func() {
		if err := w.Close(); err != nil && !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

// Run is the ledger's, not the test's.
func (w *world) Run(ctx context.Context, of run.Ref) (run.Run, error) { return w.Ledger.Run(ctx, of) }

// reopen closes the ledger and opens it again.
func (w *world) reopen() {
	w.Helper()
	w.must(w.Close())
	w.Ledger = w.open(w.T, w.clock.Now)
}

// clock is a time that only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused demands that err is the one wanted.
func (w *world) refused(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("error %v, want %v", err, want)
	}
}

// same compares, want first.
func (w *world) same(what string, want, got any, options ...cmp.Option) {
	w.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func ref(id string) run.Ref { return run.Ref{Tenant: tenant, ID: id} }

// queued returns a background run that waits, made a second after the one before.
func (w *world) queued(id string, edits ...func(*run.Run)) run.Run {
	w.Helper()
	w.clock.pass(time.Second)
	r := run.Run{
		Ref: ref(id), SessionID: "session-" + id, Kind: run.Background, Status: run.Queued,
		Request: run.Request{ID: id, Identity: sdk.Identity{UserKey: "pska:user", TenantKey: string(tenant)}},
	}
	for _, edit := range edits {
		edit(&r)
	}
	made, err := w.Create(w.Context(), r, ledger.Door{Lease: lease})
	w.must(err)
	return made
}

// driven returns a run that the living incarnation drives.
func (w *world) driven(id string, edits ...func(*run.Run)) run.Run {
	w.Helper()
	return w.queued(id, append([]func(*run.Run){func(r *run.Run) {
		r.Status, r.Owner, r.Epoch, r.Attempts = run.Running, node, 1, 1
	}}, edits...)...)
}

func chat(r *run.Run) { r.Kind = run.Chat }

func (w *world) claim() run.Run {
	w.Helper()
	return w.claimBy(node, lease)
}

// by claims background runs for long.
func by(owner string) ledger.Claimant {
	return ledger.Claimant{Owner: owner, Kind: run.Background, Lease: lease}
}

// claimBy claims a background run for another owner or another time.
func (w *world) claimBy(owner string, lease time.Duration) run.Run {
	w.Helper()
	r, err := w.Claim(w.Context(), ledger.Claimant{Owner: owner, Kind: run.Background, Lease: lease})
	w.must(err)
	return r
}

func (w *world) get(of run.Ref) run.Run {
	w.Helper()
	r, err := w.Run(w.Context(), of)
	w.must(err)
	return r
}

func (w *world) append(r run.Run, batch ledger.Batch) []run.Event {
	w.Helper()
	events, err := w.Append(w.Context(), r.Fence(), batch)
	w.must(err)
	return events
}

func (w *world) events(of run.Ref) []run.Event {
	w.Helper()
	events, err := w.Events(w.Context(), of, -1, 1_000_000)
	w.must(err)
	return events
}

func (w *world) finish(r run.Run, status run.Status) {
	w.Helper()
	w.append(r, ledger.Batch{Finish: &ledger.Finish{Status: status}})
}

// parked returns a run that waits for n people. Its approvals expire after five minutes.
func (w *world) parked(id string, n int, edits ...func(*run.Run)) (run.Run, []run.Approval) {
	w.Helper()
	r, approvals := w.asking(id, n, edits...)
	w.append(r, ledger.Batch{Park: true})
	return r, approvals
}

// asking returns a run that is driven while n people are asked.
func (w *world) asking(id string, n int, edits ...func(*run.Run)) (run.Run, []run.Approval) {
	w.Helper()
	r := w.driven(id, edits...)
	approvals := make([]run.Approval, n)
	for i := range approvals {
		approvals[i] = w.approval(r, i)
	}
	w.append(r, ledger.Batch{Approvals: approvals})
	return r, approvals
}

func (w *world) approval(r run.Run, i int) run.Approval {
	w.clock.pass(time.Second)
	now := w.clock.Now()
	return run.Approval{
		ID: fmt.Sprintf("approval-%s-%d", r.ID, i), Run: r.Ref, SessionID: r.SessionID, UserKey: "pska:user",
		ToolCallID: fmt.Sprintf("call-%d", i), ToolName: "exec", Args: []byte(`{"command": "rm -rf /tmp/<x>"}`),
		ArgsDigest: "sha256:args", ToolDigest: "sha256:tool", Reason: "dangerous", Status: run.Pending,
		Decision: run.Decision{Action: sdk.RequireApproval, Reason: "dangerous", PolicyScope: "builtin"},
		Timeout:  5 * time.Minute, CreatedAt: now, ExpiresAt: now.Add(5 * time.Minute),
	}
}

func (w *world) resolve(id string, status run.ApprovalStatus) (run.Approval, bool) {
	w.Helper()
	a, changed, err := w.Resolve(w.Context(), run.Resolution{ID: id, Status: status, By: "ops", Reason: "looked at it"})
	w.must(err)
	return a, changed
}

// heard demands that a notice is waiting.
func (w *world) heard(what string, notice <-chan struct{}) {
	w.Helper()
	select {
	case <-notice:
	default:
		w.Errorf("no notice of %s", what)
	}
}

// quiet demands that no notice is waiting.
func (w *world) quiet(what string, notice <-chan struct{}) {
	w.Helper()
	select {
	case <-notice:
		w.Errorf("a notice of %s", what)
	default:
	}
}

// together runs do n times at once and waits.
func together(n int, do func(i int)) {
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	group.Wait()
}

func ids(runs []run.Run) []string {
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.ID
	}
	return names
}
