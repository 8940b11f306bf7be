package approval

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// fakeStore settles as the ledger does: one conditional update, and no answer after the expiry.
type fakeStore struct {
	mu        sync.Mutex
	approvals []run.Approval
	changes   int // how often a pending approval was settled
	failures  int // Deadlines fails so many times
}

var errDown = errors.New("store is down")

func (s *fakeStore) put(a run.Approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approvals = append(s.approvals, a)
}

func (s *fakeStore) settled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

func (s *fakeStore) find(id string) int {
	return slices.IndexFunc(s.approvals, func(a run.Approval) bool { return a.ID == id })
}

func (s *fakeStore) Approval(_ context.Context, id string) (run.Approval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.find(id)
	if at < 0 {
		return run.Approval{}, &run.Error{Code: run.CodeNotFound, Sentence: "There is no such approval."}
	}
	return s.approvals[at], nil
}

func (s *fakeStore) Approvals(_ context.Context, f run.ApprovalFilter) (run.Page[run.Approval], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page run.Page[run.Approval]
	for _, a := range s.approvals {
		if f.Status != "" && a.Status != f.Status {
			continue
		}
		page.Total++
		if f.Limit == 0 || len(page.Items) < f.Limit {
			page.Items = append(page.Items, a)
		}
	}
	return page, nil
}

func (s *fakeStore) Resolve(_ context.Context, r run.Resolution) (run.Approval, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.find(r.ID)
	if at < 0 {
		return run.Approval{}, false, &run.Error{Code: run.CodeNotFound}
	}
	a := &s.approvals[at]
	now := storeTime()
	answer := r.Status == run.Approved || r.Status == run.Denied
	if a.Status != run.Pending || answer && !now.Before(a.ExpiresAt) || r.Status == run.Expired && now.Before(a.ExpiresAt) {
		return *a, false, nil
	}
	a.Status, a.ResolvedBy, a.Resolution, a.ResolvedAt, a.Choice = r.Status, r.By, r.Reason, &now, r.Choice
	s.changes++
	return *a, true, nil
}

func storeTime() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func (s *fakeStore) Now(context.Context) (time.Time, error) { return storeTime(), nil }

func (s *fakeStore) Deadlines(_ context.Context, limit int) (time.Time, []run.Deadline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures > 0 {
		s.failures--
		return time.Time{}, nil, errDown
	}
	var next []run.Deadline
	for _, a := range s.approvals {
		if a.Status == run.Pending {
			next = append(next, run.Deadline{ApprovalID: a.ID, At: a.ExpiresAt})
		}
	}
	slices.SortFunc(next, func(a, b run.Deadline) int { return a.At.Compare(b.At) })
	return storeTime(), next[:min(limit, len(next))], nil
}

type fakeRuns struct{}

func (fakeRuns) Run(_ context.Context, ref run.Ref) (run.Run, error) { return run.Run{Ref: ref}, nil }

type fakeRechecker struct{ err error }

func (r *fakeRechecker) Recheck(_ context.Context, got run.Run, a run.Approval) error {
	if got.Ref != a.Run {
		return errors.New("rechecked against another run")
	}
	return r.err
}

type office struct {
	desk      *Desk
	store     *fakeStore
	rechecker *fakeRechecker
}

func newOffice() *office {
	o := &office{store: &fakeStore{}, rechecker: &fakeRechecker{}}
	o.desk = New(Config{Store: o.store, Runs: fakeRuns{}, Rechecker: o.rechecker})
	return o
}

var (
	someCall = run.Call{
		Fence: run.Fence{Ref: run.Ref{Tenant: "pska", ID: "run-1"}}, SessionID: "session-1",
		Identity: sdk.Identity{UserKey: "pska:u"}, ID: "call-1",
	}
	someTool     = run.Tool{Name: "exec", Digest: "sha256:tool"}
	someArgs     = json.RawMessage(`{"command":"rm test.txt"}`)
	someDecision = run.Decision{Action: sdk.RequireApproval, Reason: "Policy tool:exec requires approval"}
	someQuestion = run.Asked{Call: someCall, Tool: someTool, Args: someArgs, Decision: someDecision}
)

// ask opens an approval and stores it, as the agent does.
func (o *office) ask() run.Approval {
	return o.askAbout(run.Permission)
}

func (o *office) askAbout(kind run.ApprovalKind) run.Approval {
	a, err := o.desk.Open(context.Background(), kind, someQuestion)
	if err != nil {
		panic(err) // the fake store has a time
	}
	o.store.put(a)
	return a
}

func (o *office) get(t *testing.T, id string) run.Approval {
	t.Helper()
	a, err := o.desk.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnOpenedApprovalShowsWhatWouldRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newOffice().ask()
		want := run.Approval{
			ID: got.ID, Run: someCall.Fence.Ref, SessionID: "session-1", UserKey: "pska:u", ToolCallID: "call-1",
			ToolName: "exec", Args: someArgs, ArgsDigest: run.Digest(someArgs), ToolDigest: "sha256:tool",
			Reason: "Policy tool:exec requires approval", Decision: someDecision, Status: run.Pending,
			Timeout: 300 * time.Second, CreatedAt: time.Now().UTC(), ExpiresAt: time.Now().UTC().Add(300 * time.Second),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("approval (-want +got):\n%s", diff)
		}
		if got.ID[:9] != "approval-" || got.ID == newOffice().ask().ID {
			t.Errorf("id = %q", got.ID)
		}
	})
}

func TestAnAnswerSettles(t *testing.T) {
	for approve, want := range map[bool]run.ApprovalStatus{true: run.Approved, false: run.Denied} {
		o := newOffice()
		id := o.ask().ID
		got, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: approve, By: "operator", Reason: "looked at it"})
		if err != nil || got.Status != want || got.ResolvedBy != "operator" || got.Resolution != "looked at it" || got.ResolvedAt == nil {
			t.Errorf("approval %+v, error %v", got, err)
		}
	}
}

func TestTheSameAnswerAgainReturnsTheSameRecord(t *testing.T) {
	for _, approve := range []bool{true, false} {
		o := newOffice()
		id := o.ask().ID
		first, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: approve, By: "a", Reason: "one"})
		if err != nil {
			t.Fatal(err)
		}
		again, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: approve, By: "b", Reason: "two"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("record (-first +again):\n%s", diff)
		}
	}
}

func TestTheOppositeAnswerIsRefused(t *testing.T) {
	for _, approve := range []bool{true, false} {
		o := newOffice()
		id := o.ask().ID
		first, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: approve, By: "a"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: !approve, By: "b"})
		if !run.IsCode(err, run.CodeApprovalSettled) || got.Status != first.Status {
			t.Errorf("status %s, error %v", got.Status, err)
		}
	}
}

func TestAnUnknownApprovalCannotBeAnswered(t *testing.T) {
	if _, err := newOffice().desk.Answer(context.Background(), run.Answer{ID: "approval-x", Approve: true, By: "a"}); !run.IsCode(err, run.CodeNotFound) {
		t.Errorf("error = %v", err)
	}
}

func TestUnansweredCallExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- o.desk.Watch(ctx) }()
		id := o.ask().ID
		<-time.After(299 * time.Second) // the bubble's clock
		synctest.Wait()
		if o.store.settled() != 0 {
			t.Error("expired early")
		}
		<-time.After(time.Second)
		synctest.Wait()
		o.store.mu.Lock()
		got := o.store.approvals[o.store.find(id)]
		o.store.mu.Unlock()
		if got.Status != run.Expired || got.Resolution != "approval_timeout" || got.ResolvedBy != "" {
			t.Errorf("approval %+v", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Errorf("Watch returned %v", err)
		}
	})
}

func TestEveryOneOfManyExpiresOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- o.desk.Watch(ctx) }()
		var opened []run.Approval
		for range 150 {
			opened = append(opened, o.ask())
			<-time.After(100 * time.Millisecond)
		}
		<-time.After(300 * time.Second)
		synctest.Wait()
		for _, a := range opened {
			got := o.get(t, a.ID)
			if got.Status != run.Expired || got.ResolvedAt.Sub(a.ExpiresAt) > 10*time.Millisecond {
				t.Fatalf("status %s, %v late", got.Status, got.ResolvedAt.Sub(a.ExpiresAt))
			}
		}
		stop()
		<-done
	})
}

func TestApprovalsOfAnEarlierProcessExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, o := newOffice(), newOffice()
		o.store.put(before.ask())
		<-time.After(time.Hour)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- o.desk.Watch(ctx) }()
		synctest.Wait()
		if o.store.settled() != 1 {
			t.Error("still pending")
		}
		stop()
		<-done
	})
}

func TestAStoreThatFailsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.store.failures = 5
		o.ask()
		<-time.After(300 * time.Second)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- o.desk.Watch(ctx) }()
		<-time.After(10 * time.Second)
		synctest.Wait()
		if o.store.settled() != 1 {
			t.Error("still pending")
		}
		stop()
		<-done
	})
}

func TestADueApprovalIsExpiredWhenItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		one, two := o.ask(), o.ask()
		<-time.After(300 * time.Second)
		if got := o.get(t, one.ID); got.Status != run.Expired {
			t.Errorf("status = %s", got.Status)
		}
		page, err := o.desk.List(context.Background(), run.ApprovalFilter{Status: run.Expired})
		if err != nil || page.Total != 2 || page.Items[1].ID != two.ID {
			t.Errorf("page %+v, error %v", page, err)
		}
	})
}

func TestAnAnswerThatComesTooLateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		id := o.ask().ID
		<-time.After(300 * time.Second)
		got, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: true, By: "operator"})
		if !run.IsCode(err, run.CodeApprovalSettled) || got.Status != run.Expired || got.Resolution != ReasonTimeout {
			t.Errorf("approval %+v, error %v", got, err)
		}
	})
}

func TestOfRacingAnswersOneWins(t *testing.T) {
	o := newOffice()
	id := o.ask().ID
	var ready, all sync.WaitGroup
	start := make(chan struct{})
	outcomes := make([]error, 50)
	for i := range outcomes {
		ready.Add(1)
		all.Go(func() {
			ready.Done()
			<-start
			_, outcomes[i] = o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: i%2 == 0, By: "racer"})
		})
	}
	ready.Wait()
	close(start)
	all.Wait()
	if o.store.settled() != 1 {
		t.Fatalf("%d answers counted", o.store.settled())
	}
	approved := o.get(t, id).Status == run.Approved
	for i, err := range outcomes {
		if agreed := (i%2 == 0) == approved; agreed != (err == nil) || err != nil && !run.IsCode(err, run.CodeApprovalSettled) {
			t.Errorf("answer %d: error %v, approved %v", i, err, approved)
		}
	}
}

func TestWhatPolicyRefusesTodayIsNotApproved(t *testing.T) {
	for _, code := range []run.Code{run.CodeApprovalStale, run.CodePolicyDenied} {
		o := newOffice()
		o.rechecker.err = &run.Error{Code: code, Sentence: "No more."}
		id := o.ask().ID
		got, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: true, By: "operator", Reason: "yes"})
		if !run.IsCode(err, code) {
			t.Errorf("error = %v, want %s", err, code)
		}
		if got.Status != run.ApprovalCancelled || got.Resolution != string(code) || got.ResolvedBy != "operator" {
			t.Errorf("approval %+v", got)
		}
		if _, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: true, By: "operator", Reason: "yes"}); !run.IsCode(err, run.CodeApprovalSettled) {
			t.Errorf("second answer: %v", err)
		}
	}
}

func TestARecheckThatCannotTellLeavesTheApprovalPending(t *testing.T) {
	o := newOffice()
	o.rechecker.err = errors.New("interrupted")
	id := o.ask().ID
	if _, err := o.desk.Answer(context.Background(), run.Answer{ID: id, Approve: true, By: "operator"}); err == nil {
		t.Error("approved all the same")
	}
	if got := o.get(t, id); got.Status != run.Pending {
		t.Errorf("status = %s", got.Status)
	}
}

func TestADenialNeedsNoRecheck(t *testing.T) {
	o := newOffice()
	o.rechecker.err = errors.New("must not be asked")
	if got, err := o.desk.Answer(context.Background(), run.Answer{ID: o.ask().ID, By: "operator"}); err != nil || got.Status != run.Denied {
		t.Errorf("approval %+v, error %v", got, err)
	}
}
