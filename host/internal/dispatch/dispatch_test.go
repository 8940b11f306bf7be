package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// script is a driver whose drive is a function; it concludes like the agent, with one batch.
type script struct {
	log   *sqlite.Ledger
	drive func(ctx context.Context, r run.Run) (agent.Outcome, error)
	full  atomic.Int32 // so many ends are not taken by the store
}

func (s *script) Drive(ctx context.Context, r run.Run) (agent.Outcome, error) { return s.drive(ctx, r) }

func (s *script) Conclude(ctx context.Context, r run.Run, ending agent.Ending) error {
	if s.full.Add(-1) >= 0 {
		return errFull
	}
	_, err := s.log.Append(ctx, r.Fence(), ledger.Batch{
		Events: []run.Event{{Kind: run.Errored, Content: ending.Text}},
		Settle: &run.Resolution{Status: run.ApprovalCancelled, Reason: ending.Reason, At: time.Now()},
		Finish: &ledger.Finish{Status: ending.Status, Outcome: run.Outcome{ErrorCode: string(ending.Code), StopReason: ending.Reason}},
	})
	return err
}

// finish ends a run well.
func (s *script) finish(ctx context.Context, r run.Run) (agent.Outcome, error) {
	_, err := s.log.Append(ctx, r.Fence(), ledger.Batch{
		Events: []run.Event{{Kind: run.SessionEnd, Content: "ok"}},
		Finish: &ledger.Finish{Status: run.Completed},
	})
	return agent.Finished, err
}

// park asks a person.
func (s *script) park(ctx context.Context, r run.Run) (agent.Outcome, error) {
	_, err := s.log.Append(ctx, r.Fence(), ledger.Batch{
		Events: []run.Event{{Kind: run.AskUser, ApprovalID: "approval-" + r.ID}},
		Approvals: []run.Approval{{
			ID: "approval-" + r.ID, Run: r.Ref, Status: run.Pending, Args: []byte(`{}`),
			CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour), Timeout: time.Hour,
		}},
		Park: true,
	})
	return agent.Parked, err
}

var errFull = errors.New("disk is full")

type bench struct {
	*Dispatcher
	t   *testing.T
	log *sqlite.Ledger
	s   *script
}

// newBench serves a dispatcher with two chat places, one worker and a queue of two.
func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	log, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "d", "l.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &script{log: log}
	s.drive = s.finish
	cfg := Config{
		Store: log, Driver: s, Owner: "me", Chats: 2, Workers: 1, Queue: 2,
		RunTimeout: time.Minute, Poll: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	b := &bench{New(cfg), t, log, s}
	t.Cleanup(func() {
		ended, stop := context.WithCancel(context.Background())
		stop()
		b.Close(ended)
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) serve() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { b.Serve(ctx); close(done) }()
	b.t.Cleanup(func() { stop(); <-done })
}

func request(kind run.Kind, id string) run.Request {
	return run.Request{
		ID: id, SessionID: "s", Kind: kind, Identity: sdk.Identity{TenantKey: "t"},
		Messages: []run.Message{{Role: run.User, Content: "hi"}},
	}
}

func ref(id string) run.Ref { return run.Ref{Tenant: "t", ID: id} }

// await waits until the run is as wanted.
func (b *bench) await(id string, wanted func(run.Run) bool) run.Run {
	b.t.Helper()
	notice, stop := b.log.Watch(ref(id))
	defer stop()
	limit := time.After(10 * time.Second)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		r, err := b.log.Run(b.t.Context(), ref(id))
		if err != nil {
			b.t.Fatal(err)
		}
		if wanted(r) {
			return r
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-limit:
			b.t.Fatalf("run %s stays %s %s", id, r.Status, r.Phase)
		}
	}
}

func (b *bench) awaitStatus(id string, status run.Status) run.Run {
	b.t.Helper()
	return b.await(id, func(r run.Run) bool { return r.Status == status })
}

func waitForEnd(ctx context.Context, _ run.Run) (agent.Outcome, error) {
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

func TestChatRunIsDrivenAtOnce(t *testing.T) {
	b := newBench(t, nil)
	r, err := b.Chat(t.Context(), request(run.Chat, "a"))
	if err != nil || r.Status != run.Running {
		t.Fatalf("chat: %v %v", r.Status, err)
	}
	b.awaitStatus("a", run.Completed)
}

func TestDisconnectCancelsTheRun(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = waitForEnd
	connection, hangUp := context.WithCancel(t.Context())
	if _, err := b.Chat(connection, request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	hangUp()
	if r := b.awaitStatus("a", run.Cancelled); r.Outcome.StopReason != "client_disconnected" {
		t.Errorf("reason %q", r.Outcome.StopReason)
	}
}

func TestDisconnectWhileParkingCancelsTheRun(t *testing.T) {
	b := newBench(t, nil)
	connection, hangUp := context.WithCancel(t.Context())
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		outcome, err := b.s.park(ctx, r)
		hangUp()
		<-ctx.Done()
		return outcome, err
	}
	if _, err := b.Chat(connection, request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	b.awaitStatus("a", run.Cancelled)
}

func TestDetachedRunOutlivesItsConnection(t *testing.T) {
	b := newBench(t, nil)
	goOn := make(chan struct{})
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		<-goOn
		return b.s.finish(ctx, r)
	}
	connection, hangUp := context.WithCancel(t.Context())
	detached := request(run.Chat, "a")
	detached.Detached = true
	if _, err := b.Chat(connection, detached); err != nil {
		t.Fatal(err)
	}
	hangUp()
	close(goOn)
	b.awaitStatus("a", run.Completed)
}

func TestOneChatTooManyIsRefusedAndNotStored(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = waitForEnd
	for _, id := range []string{"a", "b"} {
		if _, err := b.Chat(t.Context(), request(run.Chat, id)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Chat(t.Context(), request(run.Chat, "c")); !run.IsCode(err, run.CodeSaturated) {
		t.Errorf("third chat: %v", err)
	}
	if _, err := b.log.Run(t.Context(), ref("c")); !errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("refused run: %v", err)
	}
}

func TestFullQueueRefuses(t *testing.T) {
	b := newBench(t, nil) // nobody serves
	for _, id := range []string{"a", "b"} {
		if _, err := b.Submit(t.Context(), request(run.Background, id)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Submit(t.Context(), request(run.Background, "c")); !run.IsCode(err, run.CodeSaturated) {
		t.Errorf("third run: %v", err)
	}
}

func TestParkedRunHoldsNoWorkerAndGoesOnWhenAnswered(t *testing.T) {
	b := newBench(t, nil) // one worker
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		if r.ID == "a" && r.NextSeq == 0 {
			return b.s.park(ctx, r)
		}
		return b.s.finish(ctx, r)
	}
	b.serve()
	for _, id := range []string{"a", "b"} {
		if _, err := b.Submit(t.Context(), request(run.Background, id)); err != nil {
			t.Fatal(err)
		}
	}
	b.awaitStatus("b", run.Completed)
	b.await("a", func(r run.Run) bool { return r.Phase == run.AwaitingApproval && r.Owner == "" })
	if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-a", Status: run.Approved, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	b.awaitStatus("a", run.Completed)
}

func TestParkedChatGoesOnWhenAnswered(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		if r.NextSeq == 0 {
			return b.s.park(ctx, r)
		}
		return b.s.finish(ctx, r)
	}
	if _, err := b.Chat(t.Context(), request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	b.await("a", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-a", Status: run.Denied, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	b.awaitStatus("a", run.Completed)
}

func TestAChatThatWaitsForAPersonTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(cfg *Config) { cfg.Chats = 1 })
		b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
			switch {
			case r.ID == "driven":
				return waitForEnd(ctx, r)
			case r.NextSeq == 0:
				return b.s.park(ctx, r)
			}
			return b.s.finish(ctx, r)
		}
		b.chat(request(run.Chat, "parked"))
		synctest.Wait()
		b.chat(request(run.Chat, "driven"))
		if _, err := b.Chat(t.Context(), request(run.Chat, "more")); !run.IsCode(err, run.CodeSaturated) {
			t.Errorf("a chat beside the driven one: %v", err)
		}
		if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-parked", Status: run.Approved, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		b.awaitStatus("parked", run.Completed)
	})
}

func TestCancelEndsARunInEveryState(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		switch r.ID {
		case "parked", "parked-chat":
			return b.s.park(ctx, r)
		case "driven":
			return waitForEnd(ctx, r)
		}
		return b.s.finish(ctx, r)
	}
	b.serve()
	submit := func(id string) {
		if _, err := b.Submit(t.Context(), request(run.Background, id)); err != nil {
			t.Fatal(err)
		}
	}
	submit("done")
	b.awaitStatus("done", run.Completed)
	submit("parked")
	b.await("parked", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	if _, err := b.Chat(t.Context(), request(run.Chat, "parked-chat")); err != nil {
		t.Fatal(err)
	}
	b.await("parked-chat", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	submit("driven")
	b.await("driven", func(r run.Run) bool { return r.Owner != "" })
	submit("queued")
	for _, id := range []string{"done", "queued", "parked", "parked-chat", "driven"} { // driven last: its worker is free then
		want := run.Cancelled
		if id == "done" {
			want = run.Completed
		}
		r, err := b.Cancel(t.Context(), ref(id), "requested")
		if err != nil || r.Status != want {
			t.Errorf("cancel of %s: %s %v, want %s", id, r.Status, err, want)
		}
	}
	if a, _ := b.log.Approval(t.Context(), "approval-parked"); a.Status != run.ApprovalCancelled {
		t.Errorf("approval of the cancelled run is %s", a.Status)
	}
}

func TestRunThatTakesTooLongFails(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.RunTimeout = time.Millisecond })
	b.s.drive = waitForEnd
	if _, err := b.Chat(t.Context(), request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	if r := b.awaitStatus("a", run.Failed); r.Outcome.ErrorCode != string(run.CodeTimeout) {
		t.Errorf("code %q", r.Outcome.ErrorCode)
	}
}

func TestRecoverEndsWhatNobodyWillDriveAgain(t *testing.T) {
	b := newBench(t, nil)
	owned := func(id string, kind run.Kind) run.Run {
		r := b.newRun(request(kind, id), run.Running)
		r.Owner, r.Epoch = "gone", 1
		if err := b.log.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	owned("driven", run.Background)
	parkedChat, parked := owned("parked-chat", run.Chat), owned("parked", run.Background)
	for _, r := range []run.Run{parkedChat, parked} {
		if _, err := b.s.park(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Submit(t.Context(), request(run.Background, "queued")); err != nil {
		t.Fatal(err)
	}
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]run.Status{
		"driven": run.Failed, "parked-chat": run.Failed, "parked": run.Running, "queued": run.Queued,
	} {
		if r := b.await(id, func(run.Run) bool { return true }); r.Status != want {
			t.Errorf("%s is %s, want %s", id, r.Status, want)
		}
	}
}

func TestClosedDispatcherTakesNothing(t *testing.T) {
	b := newBench(t, nil)
	b.Close(t.Context())
	if _, err := b.Chat(t.Context(), request(run.Chat, "a")); !run.IsCode(err, run.CodeNotReady) {
		t.Errorf("chat: %v", err)
	}
	if _, err := b.Submit(t.Context(), request(run.Background, "b")); !run.IsCode(err, run.CodeNotReady) {
		t.Errorf("submit: %v", err)
	}
}

func TestARunEndsWhenTheStoreTakesItsEndAgain(t *testing.T) {
	b := newBench(t, nil)
	b.serve()
	b.s.full.Store(4)
	b.s.drive = func(context.Context, run.Run) (agent.Outcome, error) { return 0, errFull }
	for _, kind := range []run.Kind{run.Chat, run.Background} {
		start := b.Chat
		if kind == run.Background {
			start = b.Submit
		}
		if _, err := start(t.Context(), request(kind, string(kind))); err != nil {
			t.Fatal(err)
		}
	}
	b.awaitStatus(string(run.Chat), run.Failed)
	b.awaitStatus(string(run.Background), run.Failed)
}
