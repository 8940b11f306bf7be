package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

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
	if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-a", Status: run.Approved}); err != nil {
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
	b.serve()
	if _, err := b.Chat(t.Context(), request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	b.await("a", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-a", Status: run.Denied}); err != nil {
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
		b.serve()
		b.chat(request(run.Chat, "parked"))
		synctest.Wait()
		b.chat(request(run.Chat, "driven"))
		if _, err := b.Chat(t.Context(), request(run.Chat, "more")); !run.IsCode(err, run.CodeSaturated) {
			t.Errorf("a chat beside the driven one: %v", err)
		}
		if _, _, err := b.log.Resolve(t.Context(), run.Resolution{ID: "approval-parked", Status: run.Approved}); err != nil {
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
		r, err := b.Cancel(t.Context(), ref(id), "requested", run.Idempotency{})
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
