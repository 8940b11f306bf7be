package dispatch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

// asking returns a request of the session that says what it does beside another run.
func asking(kind run.Kind, id string, multitask run.Multitask) run.Request {
	asked := request(kind, id)
	asked.Multitask = multitask
	return asked
}

func (b *bench) chat(asked run.Request) {
	b.t.Helper()
	if _, err := b.Chat(b.t.Context(), asked); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) submit(asked run.Request) {
	b.t.Helper()
	if _, err := b.Submit(b.t.Context(), asked); err != nil {
		b.t.Fatal(err)
	}
}

// awaitFailed waits however long it takes, for tests that bend time.
func (b *bench) awaitFailed(id string) run.Run {
	b.t.Helper()
	if err := b.awaitEnd(b.t.Context(), ref(id)); err != nil {
		b.t.Fatal(err)
	}
	return b.awaitStatus(id, run.Failed)
}

// held is a drive that tells which run began and goes on when it is let go.
func (b *bench) held() (began chan string, letGo chan struct{}) {
	began, letGo = make(chan string, 10), make(chan struct{})
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		began <- r.ID
		select {
		case <-letGo:
			return b.s.finish(ctx, r)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return began, letGo
}

func TestARunThatRemembersBeginsWhenTheEarlierOneOfItsSessionIsOver(t *testing.T) {
	b := newBench(t, nil)
	began, letGo := b.held()
	b.chat(request(run.Chat, "first"))
	remembers := request(run.Chat, "second")
	remembers.SessionMemory = true
	b.chat(remembers)
	if id := <-began; id != "first" {
		t.Fatalf("%s began first", id)
	}
	select {
	case id := <-began:
		t.Fatalf("%s began beside it", id)
	default:
	}
	letGo <- struct{}{}
	<-began
	first := b.await("first", func(run.Run) bool { return true })
	if first.Status != run.Completed {
		t.Errorf("the first run was %s when the second began", first.Status)
	}
	letGo <- struct{}{}
	b.awaitStatus("second", run.Completed)
}

func TestRunsThatDoNotRememberRunSideBySide(t *testing.T) {
	b := newBench(t, nil)
	began, letGo := b.held()
	b.chat(request(run.Chat, "first"))
	b.chat(request(run.Chat, "second"))
	<-began
	<-began
	close(letGo)
	b.awaitStatus("first", run.Completed)
	b.awaitStatus("second", run.Completed)
}

func TestARunThatRemembersWaitsForNoOtherSession(t *testing.T) {
	b := newBench(t, nil)
	began, letGo := b.held()
	b.chat(request(run.Chat, "first"))
	for name, change := range map[string]func(*run.Request){
		"user":    func(r *run.Request) { r.Identity.UserKey = "t:other" },
		"session": func(r *run.Request) { r.SessionID = "other" },
	} {
		other := asking(run.Chat, name, run.Enqueue)
		change(&other)
		if name == "session" {
			other.Kind = run.Background
			b.submit(other)
			continue
		}
		b.chat(other)
	}
	b.serve()
	seen := map[string]bool{<-began: true, <-began: true, <-began: true}
	if !seen["user"] || !seen["session"] {
		t.Errorf("began: %v", seen)
	}
	close(letGo)
}

func TestARunThatRefusesCompanyIsRefused(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = waitForEnd
	b.chat(request(run.Chat, "first"))
	for kind, start := range map[run.Kind]func(context.Context, run.Request) (run.Run, error){
		run.Chat: b.Chat, run.Background: b.Submit,
	} {
		if _, err := start(t.Context(), asking(kind, "second", run.Reject)); !run.IsCode(err, run.CodeSessionBusy) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := b.Cancel(t.Context(), ref("first"), "", run.Idempotency{}); err != nil {
		t.Fatal(err)
	}
	b.chat(asking(run.Chat, "second", run.Reject))
}

func TestOfManyThatRefuseCompanyOneIsLetIn(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.Queue = 100 })
	var in, refused atomic.Int32
	done := make(chan struct{})
	for i := range 20 {
		go func() {
			defer func() { done <- struct{}{} }()
			_, err := b.Submit(t.Context(), asking(run.Background, string(rune('a'+i)), run.Reject))
			switch {
			case err == nil:
				in.Add(1)
			case run.IsCode(err, run.CodeSessionBusy):
				refused.Add(1)
			default:
				t.Error(err)
			}
		}()
	}
	for range 20 {
		<-done
	}
	if in.Load() != 1 || refused.Load() != 19 {
		t.Errorf("%d let in, %d refused", in.Load(), refused.Load())
	}
}

func TestARunThatInterruptsCancelsTheEarlierOnes(t *testing.T) {
	for _, kind := range []run.Kind{run.Chat, run.Background} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBench(t, nil)
			b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
				if r.ID == "last" {
					return b.s.finish(ctx, r)
				}
				return waitForEnd(ctx, r)
			}
			b.serve()
			b.chat(request(run.Chat, "driven"))
			b.submit(request(run.Background, "worked"))
			b.await("worked", func(r run.Run) bool { return r.Owner != "" })
			b.submit(request(run.Background, "queued"))
			if kind == run.Chat {
				b.chat(asking(kind, "last", run.Interrupt))
			} else {
				b.submit(asking(kind, "last", run.Interrupt))
			}
			b.awaitStatus("last", run.Completed)
			for _, id := range []string{"driven", "worked", "queued"} {
				if r := b.awaitStatus(id, run.Cancelled); r.Outcome.StopReason != "interrupted_by_next_run" {
					t.Errorf("%s: reason %q", id, r.Outcome.StopReason)
				}
			}
		})
	}
}

// forgetful cannot record a cancel.
type forgetful struct{ *sqlite.Ledger }

func (forgetful) Cancel(context.Context, run.Ref, ledger.Cancellation) (run.Run, error) {
	return run.Run{}, errFull
}

func TestAnInterruptionIsStoredWithTheRunThatAsksForIt(t *testing.T) {
	log := openLedger(t)
	b := newNode(t, log, "me", func(cfg *Config) { cfg.Store = forgetful{log} })
	b.submit(request(run.Background, "first"))
	b.submit(asking(run.Background, "last", run.Interrupt))
	if r := b.awaitStatus("first", run.Queued); r.Cancel != interrupted {
		t.Errorf("cancelled for %q", r.Cancel)
	}
}

// absent answers no question about a session at first.
type absent struct {
	*sqlite.Ledger
	times atomic.Int32
}

func (a *absent) Ahead(ctx context.Context, key run.SessionKey, id string) ([]run.Ref, error) {
	if a.times.Add(1) < 3 {
		return nil, &run.Error{Code: run.CodeStore, Op: "look ahead", Cause: errFull}
	}
	return a.Ledger.Ahead(ctx, key, id)
}

func TestAChatInTurnOutlastsAStoreThatIsAway(t *testing.T) {
	for _, multitask := range []run.Multitask{run.Enqueue, run.Interrupt} {
		t.Run(string(multitask), func(t *testing.T) {
			log := openLedger(t)
			b := newNode(t, log, "me", func(cfg *Config) { cfg.Store = &absent{Ledger: log} })
			b.chat(asking(run.Chat, "a", multitask))
			if r := b.await("a", func(r run.Run) bool { return r.Status.Terminal() }); r.Status != run.Completed {
				t.Errorf("%s: %s", r.Status, r.Outcome.Error)
			}
		})
	}
}

func TestAChatInTurnWaitsForAPersonOnlyAsLongAsARunMayTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(cfg *Config) { cfg.RunTimeout = 10 * time.Second })
		b.s.drive = b.s.park
		b.chat(request(run.Chat, "parked"))
		synctest.Wait()
		begun := time.Now()
		b.chat(asking(run.Chat, "waits", run.Enqueue))
		r := b.awaitFailed("waits")
		if r.Outcome.ErrorCode != string(run.CodeTimeout) || time.Since(begun) < 10*time.Second {
			t.Errorf("code %q after %s", r.Outcome.ErrorCode, time.Since(begun))
		}
		if parked := b.await("parked", func(run.Run) bool { return true }); parked.Phase != run.AwaitingApproval {
			t.Errorf("the run ahead is %s %s", parked.Status, parked.Phase)
		}
	})
}

// benchWithAParkedChat has a chat run, "parked", that waits for a person; it and every other run finish otherwise.
func benchWithAParkedChat(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, nil)
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		if r.ID == "parked" && r.NextSeq == 0 {
			return b.s.park(ctx, r)
		}
		return b.s.finish(ctx, r)
	}
	b.serve()
	b.chat(request(run.Chat, "parked"))
	b.await("parked", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	return b
}

func TestAChatInTurnBeginsWhenTheRunAheadIsAnsweredAndOver(t *testing.T) {
	b := benchWithAParkedChat(t)
	b.chat(asking(run.Chat, "waits", run.Enqueue))
	if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-parked", Status: run.Approved}); err != nil {
		t.Fatal(err)
	}
	b.awaitStatus("waits", run.Completed)
	b.awaitStatus("parked", run.Completed)
}

func TestAMessageToTheSessionLeavesAPendingApprovalAlone(t *testing.T) {
	b := benchWithAParkedChat(t)
	b.chat(request(run.Chat, "message"))
	b.awaitStatus("message", run.Completed)
	approval, err := b.log.Approval(t.Context(), "approval-parked")
	if err != nil || approval.Status != run.Pending {
		t.Errorf("approval is %s, %v", approval.Status, err)
	}
}

func TestAfterACancelWithAPendingApprovalTheNextRunIsAccepted(t *testing.T) {
	for _, multitask := range []run.Multitask{run.Parallel, run.Reject, run.Enqueue, run.Interrupt} {
		t.Run(string(multitask), func(t *testing.T) {
			b := benchWithAParkedChat(t)
			if _, err := b.Cancel(t.Context(), ref("parked"), "", run.Idempotency{}); err != nil {
				t.Fatal(err)
			}
			if a, err := b.log.Approval(t.Context(), "approval-parked"); err != nil || a.Status != run.ApprovalCancelled {
				t.Errorf("approval is %s, %v", a.Status, err)
			}
			b.chat(asking(run.Chat, "next", multitask))
			b.awaitStatus("next", run.Completed)
		})
	}
}

func TestLeavingWhileWaitingForATurnCancelsTheRun(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = waitForEnd
	b.chat(request(run.Chat, "first"))
	connection, hangUp := context.WithCancel(t.Context())
	if _, err := b.Chat(connection, asking(run.Chat, "waits", run.Enqueue)); err != nil {
		t.Fatal(err)
	}
	hangUp()
	b.awaitStatus("waits", run.Cancelled)
}

func TestAStopHandsBackARunThatWaitsForItsTurn(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = waitForEnd
	b.chat(request(run.Chat, "first"))
	b.chat(asking(run.Chat, "waits", run.Enqueue))
	b.stopNow()
	r := b.awaitStatus("waits", run.Running)
	if r.Phase != run.Ready || r.Owner != "" || r.NextSeq != 0 {
		t.Errorf("the run is %q, driven by %q, with %d events", r.Phase, r.Owner, r.NextSeq)
	}
}

func TestManyRunsInTurnNeverRunBesideOneAnother(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.Chats, cfg.Workers, cfg.Queue = 12, 4, 12 })
	var driven, beside atomic.Int32
	all := make(chan struct{}) // closed when every run was asked for: until then nobody is over
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		if driven.Add(1) > 1 {
			beside.Add(1)
		}
		<-all
		driven.Add(-1)
		return b.s.finish(ctx, r)
	}
	b.serve()
	var started sync.WaitGroup
	for i := range 12 {
		started.Go(func() {
			asked := asking(run.Chat, fmt.Sprintf("r%d", i), run.Enqueue)
			start := b.Chat
			if i%2 == 0 {
				asked.Kind, start = run.Background, b.Submit
			}
			if _, err := start(t.Context(), asked); err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
	close(all)
	for i := range 12 {
		b.awaitStatus(fmt.Sprintf("r%d", i), run.Completed)
	}
	if beside.Load() != 0 {
		t.Errorf("%d runs ran beside another", beside.Load())
	}
}

func TestARunThatInterruptsSettlesWhatThePersonWasAsked(t *testing.T) {
	b := benchWithAParkedChat(t)
	b.chat(asking(run.Chat, "next", run.Interrupt))
	b.awaitStatus("next", run.Completed)
	b.awaitStatus("parked", run.Cancelled)
	if a, err := b.log.Approval(t.Context(), "approval-parked"); err != nil || a.Status != run.ApprovalCancelled {
		t.Errorf("approval is %s, %v", a.Status, err)
	}
}
