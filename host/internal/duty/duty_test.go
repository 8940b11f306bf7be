package duty

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// book keeps duties as the ledger does.
type book struct {
	mu    sync.Mutex
	owner string
	until time.Time
	down  bool
}

func (b *book) Take(_ context.Context, _ string, by ledger.Claimant) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch now := time.Now(); {
	case b.down:
		return false, errors.New("store is down")
	case b.owner != by.Owner && now.Before(b.until):
		return false, nil
	default:
		b.owner, b.until = by.Owner, now.Add(by.Lease)
		return true, nil
	}
}

const lease = 9 * time.Second

// keeper is a process with one duty.
type keeper struct {
	busy atomic.Bool
	die  context.CancelFunc
	done chan struct{}
}

func newKeeper(b *book, owner string) *keeper {
	ctx, die := context.WithCancel(context.Background())
	k := &keeper{die: die, done: make(chan struct{})}
	roster := New(Config{Store: b, Owner: owner, Lease: lease, Log: slog.New(slog.DiscardHandler)})
	go func() {
		defer close(k.done)
		roster.Keep(ctx, "sweep", func(ctx context.Context) {
			k.busy.Store(true)
			defer k.busy.Store(false)
			<-ctx.Done()
		})
	}()
	return k
}

func (k *keeper) stop() {
	k.die()
	<-k.done
}

func TestOneProcessAtATimeHasADuty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		first := newKeeper(b, "a")
		synctest.Wait()
		second := newKeeper(b, "b")
		defer second.stop()
		defer first.stop()
		for range 20 {
			time.Sleep(lease / 2)
			synctest.Wait()
			if !first.busy.Load() || second.busy.Load() {
				t.Fatalf("busy: %v and %v", first.busy.Load(), second.busy.Load())
			}
		}
	})
}

func TestADutyWhoseKeeperDiedHasAnotherWithinALeaseAndALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		first := newKeeper(b, "a")
		synctest.Wait()
		second := newKeeper(b, "b")
		defer second.stop()
		time.Sleep(3 * lease)
		first.stop()
		time.Sleep(lease + lease/3)
		synctest.Wait()
		if !second.busy.Load() {
			t.Error("nobody has the duty")
		}
	})
}

func TestAKeeperThatCannotRenewStopsBeforeAnotherBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		k := newKeeper(b, "a")
		defer k.stop()
		synctest.Wait()
		b.mu.Lock()
		b.down = true
		until := b.until
		b.mu.Unlock()
		time.Sleep(time.Until(until) - time.Millisecond)
		synctest.Wait()
		if k.busy.Load() {
			t.Error("it still does what may be another's")
		}
	})
}
