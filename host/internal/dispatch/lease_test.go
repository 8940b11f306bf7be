package dispatch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestARunIsTakenOverWhenTheLeaseOfItsOwnerIsOver(t *testing.T) {
	for _, kind := range []run.Kind{run.Chat, run.Background} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(cfg *Config) { cfg.Poll = 500 * time.Millisecond })
				b.leaveBehind(kind, "a")
				began := time.Now()
				b.serve()
				r := b.awaitStatus("a", run.Completed)
				if took := time.Since(began); took < 10*time.Second || took > 11*time.Second {
					t.Errorf("taken over after %s", took)
				}
				if r.Attempts != 2 || b.Stats().TakenOver != 1 {
					t.Errorf("%d attempts, %+v", r.Attempts, b.Stats())
				}
			})
		})
	}
}

func TestARunThatIsDrivenIsNotTakenOverHoweverLongItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := newPair(t, nil)
		b.serve()
		_, letGo := a.held()
		a.chat(request(run.Chat, "driven"))
		a.chat(asking(run.Chat, "waits", run.Enqueue)) // for its turn
		time.Sleep(50 * time.Second)
		close(letGo)
		for _, id := range []string{"driven", "waits"} {
			if r := a.awaitStatus(id, run.Completed); r.Attempts != 1 {
				t.Errorf("%s was claimed %d times", id, r.Attempts)
			}
		}
		if taken := b.Stats().TakenOver; taken != 0 {
			t.Errorf("%d runs taken over", taken)
		}
	})
}

func TestAPausedNodeThatWakesIsFencedAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, link := newPair(t, nil)
		wake := make(chan struct{})
		a.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
			<-wake
			return a.s.finish(context.WithoutCancel(ctx), r)
		}
		link.paused.Store(true)
		a.chat(request(run.Chat, "a"))
		synctest.Wait()
		b.serve()
		if r := b.awaitStatus("a", run.Completed); r.Epoch != 2 {
			t.Errorf("epoch %d", r.Epoch)
		}
		close(wake)
		synctest.Wait()
		if stats := a.Stats(); stats.Fenced != 1 || stats.Driving != 0 {
			t.Errorf("%+v", stats)
		}
		if n := a.ends("a"); n != 1 {
			t.Errorf("%d terminal events", n)
		}
	})
}

func TestAHeartbeatFindsARunThatAnotherTookAndStopsItsDrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, link := newPair(t, nil)
		a.s.drive = waitForEnd
		_, letGo := b.held()
		link.paused.Store(true)
		a.chat(request(run.Chat, "a"))
		synctest.Wait()
		b.serve()
		b.await("a", func(r run.Run) bool { return r.Owner == "b" })
		link.paused.Store(false)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if stats := a.Stats(); stats.Fenced != 1 || stats.Driving != 0 {
			t.Errorf("%+v", stats)
		}
		close(letGo)
		b.awaitStatus("a", run.Completed)
	})
}

func TestANodeThatCannotRenewStopsBeforeItsLeasesEndAndWritesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, link := newPair(t, nil)
		stopped := make(chan time.Time, 1)
		a.s.drive = func(ctx context.Context, _ run.Run) (agent.Outcome, error) {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ledger.ErrFenced) {
				t.Errorf("an agent may still write: %v", context.Cause(ctx))
			}
			stopped <- time.Now()
			return 0, context.Cause(ctx)
		}
		link.cut.Store(true)
		began := time.Now()
		a.chat(request(run.Chat, "a"))
		if after := (<-stopped).Sub(began); after >= 10*time.Second {
			t.Errorf("stopped after %s", after)
		}
		synctest.Wait()
		r := a.awaitStatus("a", run.Running)
		if r.Owner != "a" || r.NextSeq != 0 {
			t.Errorf("owner %q, %d events", r.Owner, r.NextSeq)
		}
		if stats := a.Stats(); stats.RenewalsFailed == 0 || stats.Driving != 0 || stats.Fenced != 0 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestARenewalThatFailedIsTriedAgainSoonAndNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, link := newPair(t, nil)
		b.serve()
		_, letGo := a.held()
		a.chat(request(run.Chat, "a"))
		for range 5 {
			link.cut.Store(true)
			time.Sleep(5 * time.Second)
			link.cut.Store(false)
			time.Sleep(5 * time.Second)
		}
		close(letGo)
		if r := a.awaitStatus("a", run.Completed); r.Attempts != 1 {
			t.Errorf("%d attempts", r.Attempts)
		}
		if a.Stats().RenewalsFailed == 0 {
			t.Error("no renewal failed: this test shows nothing")
		}
	})
}

func TestClaimsInVainComeSlowerAndThenTheRunFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, link := newPair(t, func(cfg *Config) { cfg.CrashLimit = 4 })
		var begun []time.Time
		a.s.drive = func(ctx context.Context, _ run.Run) (agent.Outcome, error) {
			begun = append(begun, time.Now())
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
		link.cut.Store(true)
		a.submit(request(run.Background, "a"))
		a.serve()
		if err := a.awaitEnd(t.Context(), ref("a")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r := a.awaitStatus("a", run.Failed)
		if r.Outcome.ErrorCode != string(run.CodeCrashLoop) || r.Outcome.Error == "" || r.Attempts != 5 {
			t.Errorf("%q: %q after %d claims", r.Outcome.ErrorCode, r.Outcome.Error, r.Attempts)
		}
		if len(begun) != 4 || a.Stats().CrashLoops != 1 {
			t.Fatalf("%d drives, %+v", len(begun), a.Stats())
		}
		for i, pause := range []time.Duration{0, time.Second, 2 * time.Second} {
			if gap := begun[i+1].Sub(begun[i]); gap < 10*time.Second+pause {
				t.Errorf("claim %d came after %s", i+2, gap)
			}
		}
	})
}

func TestAProcessThatTakesItsOwnRunAgainStopsItsFormerDriveFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, link := newPair(t, nil)
		var driven, beside atomic.Int32
		a.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
			if driven.Add(1) > 1 {
				beside.Add(1)
			}
			defer driven.Add(-1)
			if r.Epoch > 1 {
				return a.s.finish(ctx, r)
			}
			<-ctx.Done()
			time.Sleep(time.Second) // a tool that is slow to stop
			return 0, context.Cause(ctx)
		}
		link.paused.Store(true)
		a.chat(request(run.Chat, "a"))
		a.serve()
		a.awaitStatus("a", run.Completed)
		if beside.Load() != 0 || a.Stats().Fenced != 1 || a.ends("a") != 1 {
			t.Errorf("%d beside another, %+v", beside.Load(), a.Stats())
		}
	})
}

func TestARunGoesOnUnderTheSameClaimWhenTheStoreIsBack(t *testing.T) {
	b := newBench(t, nil)
	var tries atomic.Int32
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		if tries.Add(1) < 3 {
			return 0, &run.Error{Code: run.CodeStore, Op: "append", Cause: errFull}
		}
		return b.s.finish(ctx, r)
	}
	b.chat(request(run.Chat, "a"))
	if r := b.awaitStatus("a", run.Completed); r.Attempts != 1 || tries.Load() != 3 {
		t.Errorf("%d claims, %d drives", r.Attempts, tries.Load())
	}
}

func TestARunOutlastsAStoreThatTakesNoWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, link := newPair(t, func(cfg *Config) { cfg.Lease = time.Minute })
		link.cut.Store(true)
		a.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
			if link.cut.Load() {
				return 0, &run.Error{Code: run.CodeStore, Op: "append", Cause: errFull}
			}
			return a.s.finish(ctx, r)
		}
		a.chat(request(run.Chat, "a"))
		time.Sleep(30 * time.Second)
		link.cut.Store(false)
		if r := a.await("a", func(r run.Run) bool { return r.Status.Terminal() }); r.Status != run.Completed || r.Attempts != 1 {
			t.Errorf("%s after %d claims", r.Status, r.Attempts)
		}
	})
}

func TestANodeIsKnownWhileItLivesAndForgottenWhenItStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := newPair(t, nil)
		a.s.drive = waitForEnd
		a.chat(request(run.Chat, "a"))
		time.Sleep(time.Minute)
		nodes, err := b.log.Nodes(t.Context())
		if err != nil || len(nodes) != 2 {
			t.Fatalf("nodes %+v, %v", nodes, err)
		}
		a.stopNow()
		nodes, err = b.log.Nodes(t.Context())
		if err != nil || len(nodes) != 1 || nodes[0].Owner != "b" {
			t.Errorf("nodes %+v, %v", nodes, err)
		}
	})
}

// deaf is a ledger whose news do not arrive.
type deaf struct{ *sqlite.Ledger }

func (deaf) Wake() <-chan struct{} { return nil }

func TestWorkOfWhichNobodyTellsIsFoundByLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := openLedger(t)
		with := func(cfg *Config) { cfg.Store, cfg.Poll = deaf{log}, time.Second }
		a, b := newNode(t, log, "a", with), newNode(t, log, "b", with)
		began := make(chan time.Time, 1)
		b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
			began <- time.Now()
			return waitForEnd(ctx, r)
		}
		b.serve()
		synctest.Wait()
		asked := time.Now()
		a.submit(request(run.Background, "r"))
		select {
		case at := <-began:
			if after := at.Sub(asked); after > time.Second {
				t.Errorf("begun after %s", after)
			}
		case <-time.After(time.Minute):
			t.Fatal("nobody looks")
		}
		if _, err := a.Cancel(t.Context(), ref("r"), "enough", run.Idempotency{}); err != nil {
			t.Fatal(err)
		}
		b.awaitStatus("r", run.Cancelled)
		if after := time.Since(asked); after > time.Second+b.cfg.Lease/3+b.cfg.Poll {
			t.Errorf("cancelled after %s", after)
		}
	})
}
