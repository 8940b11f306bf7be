package dispatch

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAStopFinishesOrHandsBackTwentyRunsAndNoneRunsTwice(t *testing.T) {
	a, b, _ := newPair(t, func(cfg *Config) {
		cfg.Chats, cfg.Workers, cfg.Queue, cfg.Poll = 10, 10, 20, 20*time.Millisecond
	})
	var mu sync.Mutex
	finished := map[string]int{}
	done := func(ctx context.Context, n *bench, r run.Run) (agent.Outcome, error) {
		mu.Lock()
		finished[r.ID]++
		mu.Unlock()
		return n.s.finish(ctx, r)
	}
	began, stopping := make(chan struct{}, 20), make(chan struct{})
	a.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
		began <- struct{}{}
		<-stopping
		if r.ID < "r05" { // these come to their end within the grace
			return done(ctx, a, r)
		}
		return waitForEnd(ctx, r)
	}
	b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) { return done(ctx, b, r) }
	a.serve()
	for i := range 20 {
		asked := request(run.Chat, fmt.Sprintf("r%02d", i))
		if i%2 == 0 {
			asked.Kind = run.Background
			a.submit(asked)
			continue
		}
		a.chat(asked)
	}
	for range 20 {
		<-began
	}
	grace, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	close(stopping)
	a.Close(grace)
	if grace.Err() != nil {
		t.Error("the grace was over")
	}
	if stats := a.Stats(); stats.Released != 15 || stats.Driving != 0 || stats.Fenced != 0 {
		t.Errorf("%+v", stats)
	}
	b.serve()
	for i := range 20 {
		id := fmt.Sprintf("r%02d", i)
		b.awaitStatus(id, run.Completed)
		mu.Lock()
		times := finished[id]
		mu.Unlock()
		if times != 1 || b.ends(id) != 1 {
			t.Errorf("%s finished %d times, %d terminal events", id, times, b.ends(id))
		}
	}
	if b.Stats().TakenOver != 0 {
		t.Error("a run that was handed back had to wait for a lease")
	}
}

func TestAStopLeavesNoRunThatNobodyCanClaim(t *testing.T) {
	for range 5 {
		b := newBench(t, func(cfg *Config) { cfg.Workers, cfg.Queue, cfg.Poll = 4, 100, time.Millisecond })
		b.s.drive = func(ctx context.Context, r run.Run) (agent.Outcome, error) {
			if r.ID > "r20" {
				return waitForEnd(ctx, r)
			}
			return b.s.finish(ctx, r)
		}
		b.serve()
		var asking sync.WaitGroup
		for i := range 40 {
			asking.Go(func() { _, _ = b.Submit(t.Context(), request(run.Background, fmt.Sprintf("r%02d", i))) })
		}
		b.stopNow()
		asking.Wait()
		page, err := b.log.Runs(t.Context(), run.Filter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			if !r.Status.Terminal() && r.Owner != "" {
				t.Errorf("%s is %s %q and its owner %q is gone", r.ID, r.Status, r.Phase, r.Owner)
			}
		}
	}
}

func TestAClientThatIsCutByAStopDoesNotCancelItsRun(t *testing.T) {
	b := benchWithAParkedChat(t)
	connection, hangUp := context.WithCancel(t.Context())
	b.s.drive = waitForEnd
	if _, err := b.Chat(connection, request(run.Chat, "driven")); err != nil {
		t.Fatal(err)
	}
	b.stopNow()
	hangUp()
	r := b.awaitStatus("driven", run.Running)
	if r.Cancel != "" || r.Phase != run.Ready {
		t.Errorf("cancel %q, phase %q", r.Cancel, r.Phase)
	}
}

func TestCancelWorksAfterTheStop(t *testing.T) {
	b := benchWithAParkedChat(t)
	b.stopNow()
	r, err := b.Cancel(t.Context(), ref("parked"), "late", run.Idempotency{})
	if err != nil || r.Status != run.Cancelled || r.Outcome.StopReason != "late" {
		t.Errorf("%s %q %v", r.Status, r.Outcome.StopReason, err)
	}
}

func TestAThousandParkedRunsHoldNoGoroutine(t *testing.T) {
	const many = 1000
	b := newBench(t, func(cfg *Config) { cfg.Chats = many })
	b.s.drive = b.s.park
	b.serve()
	before := runtime.NumGoroutine()
	connection, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	var asking sync.WaitGroup
	for i := range many {
		asking.Go(func() {
			asked := request(run.Chat, fmt.Sprintf("r%d", i))
			asked.SessionID = asked.ID
			if _, err := b.Chat(connection, asked); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	limit := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for b.Stats().Driving > 0 || runtime.NumGoroutine() > before+20 {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%d goroutines before, %d now", before, runtime.NumGoroutine())
		}
	}
	page, err := b.log.Runs(t.Context(), run.Filter{Limit: many})
	if err != nil || len(page.Items) != many {
		t.Fatalf("%d runs, %v", len(page.Items), err)
	}
	for _, r := range page.Items {
		if r.Phase != run.AwaitingApproval || r.Owner != "" {
			t.Errorf("%s is %q with owner %q", r.ID, r.Phase, r.Owner)
		}
	}
	b.stopNow() // else every run would be cancelled when the connection ends
}
