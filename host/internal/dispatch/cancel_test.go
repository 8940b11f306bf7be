package dispatch

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestARunWhoseOwnerIsGoneIsCancelledInThatRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil) // nobody serves
		b.leaveBehind(run.Background, "a")
		time.Sleep(b.cfg.Lease)
		asked := time.Now()
		r, err := b.Cancel(t.Context(), ref("a"), "enough", run.Idempotency{})
		if err != nil || r.Status != run.Cancelled || r.Outcome.StopReason != "enough" || time.Since(asked) > 0 {
			t.Errorf("%s %q after %s, %v", r.Status, r.Outcome.StopReason, time.Since(asked), err)
		}
	})
}

func TestARunWhoseOwnerDiedIsCancelledWhenItsLeaseIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.leaveBehind(run.Background, "a")
		b.serve()
		began := time.Now()
		r, err := b.Cancel(t.Context(), ref("a"), "enough", run.Idempotency{})
		if err != nil || r.Status != run.Running || r.Cancel != "enough" {
			t.Fatalf("%s, cancel %q, %v", r.Status, r.Cancel, err)
		}
		if waited := time.Since(began); waited != cancelPatience {
			t.Errorf("answered after %s", waited)
		}
		b.awaitStatus("a", run.Cancelled)
		if b.ends("a") != 1 || time.Since(began) > b.cfg.Lease+b.cfg.Lease/3+time.Second {
			t.Errorf("%d terminal events after %s", b.ends("a"), time.Since(began))
		}
	})
}

func TestARestartDoesNotDriveCancelledRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.s.drive = func(context.Context, run.Run) (agent.Outcome, error) {
			t.Error("a cancelled run was driven")
			return 0, errFull
		}
		for _, kind := range []run.Kind{run.Chat, run.Background} {
			b.leaveBehind(kind, string(kind))
			if _, err := b.log.Cancel(t.Context(), ref(string(kind)), ledger.Cancellation{Reason: "user"}); err != nil {
				t.Fatal(err)
			}
		}
		b.serve()
		for _, kind := range []run.Kind{run.Chat, run.Background} {
			if r := b.awaitStatus(string(kind), run.Cancelled); r.Outcome.StopReason != "user" {
				t.Errorf("reason %q", r.Outcome.StopReason)
			}
		}
	})
}

func TestACancelThatCameToAnotherNodeIsHeardWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := newPair(t, nil)
		a.s.drive = waitForEnd
		a.chat(request(run.Chat, "a"))
		synctest.Wait()
		asked := time.Now()
		r, err := b.Cancel(t.Context(), ref("a"), "elsewhere", run.Idempotency{})
		if err != nil || r.Status != run.Cancelled || r.Outcome.StopReason != "elsewhere" || time.Since(asked) > time.Second {
			t.Errorf("%s %q after %s, %v", r.Status, r.Outcome.StopReason, time.Since(asked), err)
		}
	})
}

func TestAClientThatLeavesWhileItsRunIsParkedCancelsIt(t *testing.T) {
	b := newBench(t, nil)
	b.s.drive = b.s.park
	connection, hangUp := context.WithCancel(t.Context())
	if _, err := b.Chat(connection, request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	b.await("a", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	hangUp()
	if r := b.awaitStatus("a", run.Cancelled); r.Outcome.StopReason != disconnected {
		t.Errorf("reason %q", r.Outcome.StopReason)
	}
	if a, err := b.log.Approval(t.Context(), "approval-a"); err != nil || a.Status != run.ApprovalCancelled {
		t.Errorf("approval is %s, %v", a.Status, err)
	}
}

func TestAClientThatLeavesAfterTheEndChangesNothing(t *testing.T) {
	b := newBench(t, nil)
	connection, hangUp := context.WithCancel(t.Context())
	if _, err := b.Chat(connection, request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	b.awaitStatus("a", run.Completed)
	hangUp()
	b.stopNow()
	if r := b.awaitStatus("a", run.Completed); r.Cancel != "" {
		t.Errorf("cancel %q", r.Cancel)
	}
}

func TestACancelMayBeRepeatedUnderItsKeyAndTheKeyIsForNothingElse(t *testing.T) {
	b := benchWithAParkedChat(t)
	b.chat(request(run.Chat, "other"))
	key := run.Idempotency{Key: "k", Digest: "cancel parked"}
	for range 2 {
		if r, err := b.Cancel(t.Context(), ref("parked"), "", key); err != nil || r.Status != run.Cancelled {
			t.Errorf("%s, %v", r.Status, err)
		}
	}
	key.Digest = "cancel other"
	if _, err := b.Cancel(t.Context(), ref("other"), "", key); !run.IsCode(err, run.CodeKeyReused) {
		t.Errorf("another request with the key: %v", err)
	}
}

// unwilling takes no cancel at first.
type unwilling struct {
	*sqlite.Ledger
	times atomic.Int32
}

func (u *unwilling) Cancel(ctx context.Context, ref run.Ref, c ledger.Cancellation) (run.Run, error) {
	if u.times.Add(1) < 3 {
		return run.Run{}, &run.Error{Code: run.CodeStore, Op: "cancel run", Sentence: "The store is away."}
	}
	return u.Ledger.Cancel(ctx, ref, c)
}

func TestAClientThatLeavesWhileTheStoreIsAwayCancelsItsRunWhenItIsBack(t *testing.T) {
	log := openLedger(t)
	b := newNode(t, log, "me", func(cfg *Config) { cfg.Store = &unwilling{Ledger: log} })
	b.s.drive = b.s.park
	connection, hangUp := context.WithCancel(t.Context())
	if _, err := b.Chat(connection, request(run.Chat, "a")); err != nil {
		t.Fatal(err)
	}
	b.await("a", func(r run.Run) bool { return r.Phase == run.AwaitingApproval })
	hangUp()
	if r := b.awaitStatus("a", run.Cancelled); r.Outcome.StopReason != disconnected {
		t.Errorf("reason %q", r.Outcome.StopReason)
	}
}
