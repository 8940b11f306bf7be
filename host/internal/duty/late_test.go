package duty

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// store answers as it is told to.
type store func(ctx context.Context) (bool, error)

func (s store) Take(ctx context.Context, _ string, _ ledger.Claimant) (bool, error) { return s(ctx) }

// kept reports how long after its last renewal a duty was still done, when the store answers so from the second time on.
func kept(t *testing.T, then store) time.Duration {
	var asked int
	var renewed, ended time.Time
	s := store(func(ctx context.Context) (bool, error) {
		if asked++; asked > 1 {
			return then(ctx)
		}
		renewed = time.Now()
		return true, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	var busy atomic.Bool
	roster := New(Config{Store: s, Owner: "a", Lease: lease, Log: slog.New(slog.DiscardHandler)})
	done := make(chan struct{})
	go func() {
		defer close(done)
		roster.Keep(ctx, "sweep", func(ctx context.Context) {
			busy.Store(true)
			<-ctx.Done()
			if busy.Swap(false) {
				ended = time.Now()
			}
		})
	}()
	<-time.After(10 * lease)
	synctest.Wait()
	stop()
	<-done
	return ended.Sub(renewed)
}

func TestADutyThatTheStoreGaveToAnotherEndsAtTheNextLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := kept(t, func(context.Context) (bool, error) { return false, nil }); got > lease/3 {
			t.Errorf("done for %s", got)
		}
	})
}

func TestAStoreThatErrsEndsTheDutyAtTheSecondLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := func(context.Context) (bool, error) { return false, errors.New("store is down") }
		if got := kept(t, down); got > lease*2/3 {
			t.Errorf("done for %s", got)
		}
	})
}

func TestAStoreThatDoesNotAnswerEndsTheDutyWithinItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, context.Cause(ctx)
		}
		if got := kept(t, hangs); got >= lease {
			t.Errorf("done for %s", got)
		}
	})
}

func TestADutyIsGivenBackByWhoStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		first := newKeeper(b, "a")
		synctest.Wait()
		second := newKeeper(b, "b")
		defer second.stop()
		first.stop()
		time.Sleep(lease / 3)
		synctest.Wait()
		if !second.busy.Load() {
			t.Error("nobody has the duty at the next look")
		}
	})
}

func TestWhoHasNoDutyGivesNoneBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		first := newKeeper(b, "a")
		defer first.stop()
		synctest.Wait()
		newKeeper(b, "b").stop()
		if !time.Now().Before(b.until) || b.owner != "a" {
			t.Errorf("%s has it until %s", b.owner, b.until)
		}
	})
}

func TestAStoreThatIsDownIsTalkedOfOnceAndOnceWhenItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		var log strings.Builder
		roster := New(Config{Store: b, Owner: "a", Lease: lease, Log: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			roster.Keep(ctx, "sweep", func(ctx context.Context) { <-ctx.Done() })
		}()
		for _, down := range []bool{true, false} {
			time.Sleep(5 * lease)
			synctest.Wait()
			b.mu.Lock()
			b.down = down
			b.mu.Unlock()
		}
		time.Sleep(5 * lease)
		stop()
		<-done
		if failed, back := strings.Count(log.String(), "cannot take"), strings.Count(log.String(), "again"); failed != 1 || back != 1 {
			t.Errorf("%d times that it is down, %d times that it is back:\n%s", failed, back, &log)
		}
	})
}
