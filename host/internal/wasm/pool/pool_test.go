package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// toy is an instance for tests.
type toy struct {
	number int
	dirt   int
	freed  atomic.Bool
}

// shop makes toys and counts them.
type shop struct {
	made, freed atomic.Int64
	refuse      atomic.Bool
}

func (s *shop) config() Config[*toy] {
	return Config[*toy]{
		Most: 2, Least: 1, Queue: 8, Linger: time.Minute,
		Make: func(context.Context) (*toy, error) {
			if s.refuse.Load() {
				return nil, errors.New("no wood")
			}
			return &toy{number: int(s.made.Add(1))}, nil
		},
		Restore: func(t *toy) error {
			t.dirt = 0
			return nil
		},
		Discard: func(t *toy) {
			if t.freed.Swap(true) {
				panic("freed twice")
			}
			s.freed.Add(1)
		},
	}
}

func lease(t *testing.T, p *Pool[*toy]) *toy {
	t.Helper()
	got, err := p.Lease(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if got.dirt != 0 || got.freed.Load() {
		t.Fatalf("toy %d is not as good as new", got.number)
	}
	return got
}

func shut(t *testing.T, p *Pool[*toy]) {
	t.Helper()
	if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestAnInstanceThatCameBackIsRestoredAndLentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		p := New(s.config())
		first := lease(t, p)
		first.dirt = 1
		p.Return(first, true)
		synctest.Wait()
		if again := lease(t, p); again != first {
			t.Error("it is another one")
		}
		p.Return(first, true)
		shut(t, p)
	})
}

func TestAnInstanceThatIsNotWholeIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		p := New(s.config())
		first := lease(t, p)
		p.Return(first, false)
		synctest.Wait()
		if !first.freed.Load() {
			t.Error("it was kept")
		}
		shut(t, p)
	})
}

func TestWhoCameFirstIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most = 1
		p := New(cfg)
		held := lease(t, p)
		var mu sync.Mutex
		var order []int
		var callers sync.WaitGroup
		for n := range 5 {
			callers.Go(func() {
				got, err := p.Lease(t.Context(), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, n)
				mu.Unlock()
				p.Return(got, n%2 == 0) // a discarded one passes the turn on too
			})
			synctest.Wait()
		}
		p.Return(held, true)
		callers.Wait()
		if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, order); diff != "" {
			t.Error(diff)
		}
		shut(t, p)
	})
}

func TestPatienceEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most = 1
		p := New(cfg)
		held := lease(t, p)
		if _, err := p.Lease(t.Context(), time.Second); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v", err)
		}
		p.Return(held, true)
		synctest.Wait()
		p.Return(lease(t, p), true)
		shut(t, p)
	})
}

func TestACallerWhoLeavesGivesHisPlaceUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most = 1
		p := New(cfg)
		held := lease(t, p)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if _, err := p.Lease(ctx, time.Minute); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		if waiting := p.Gauges().Waiting; waiting != 0 {
			t.Errorf("%d wait", waiting)
		}
		p.Return(held, true)
		shut(t, p)
	})
}

func TestAFullQueueSendsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most, cfg.Queue = 1, 0
		p := New(cfg)
		held := lease(t, p)
		if _, err := p.Lease(t.Context(), time.Hour); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v", err)
		}
		p.Return(held, true)
		shut(t, p)
	})
}

func TestAPoolShrinksToItsLeastAfterABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most = 5
		p := New(cfg)
		var out []*toy
		for range 5 {
			out = append(out, lease(t, p))
		}
		for _, one := range out {
			p.Return(one, true)
		}
		synctest.Wait()
		if idle := p.Gauges().Idle; idle != 5 {
			t.Errorf("%d are idle after the burst", idle)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		want := Gauges{Idle: 1, Made: 5, Discarded: 4, Restored: 5}
		if diff := cmp.Diff(want, p.Gauges()); diff != "" {
			t.Error(diff)
		}
		shut(t, p)
	})
}

func TestAFailedMakeLetsTheNextOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most = 1
		p := New(cfg)
		s.refuse.Store(true)
		if _, err := p.Lease(t.Context(), time.Minute); err == nil {
			t.Error("it was made of nothing")
		}
		s.refuse.Store(false)
		p.Return(lease(t, p), true)
		shut(t, p)
	})
}

func TestAFailedRestoreDiscards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Restore = func(*toy) error { return errors.New("it grew") }
		p := New(cfg)
		first := lease(t, p)
		p.Return(first, true)
		synctest.Wait()
		if !first.freed.Load() {
			t.Error("it was kept")
		}
		shut(t, p)
	})
}

func TestClosingWaitsForWhatIsLentAndDiscardsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		p := New(s.config())
		held := lease(t, p)
		p.Return(lease(t, p), true)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(ctx); err == nil {
			t.Error("it did not wait")
		}
		if _, err := p.Lease(t.Context(), time.Second); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed pool lends: %v", err)
		}
		p.Return(held, true)
		shut(t, p)
		if made, freed := s.made.Load(), s.freed.Load(); made != freed {
			t.Errorf("%d made, %d freed", made, freed)
		}
	})
}

func TestClosingSendsAwayWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		cfg := s.config()
		cfg.Most = 1
		p := New(cfg)
		held := lease(t, p)
		refused := make(chan error, 1)
		go func() {
			_, err := p.Lease(t.Context(), time.Hour)
			refused <- err
		}()
		synctest.Wait()
		closed := make(chan struct{})
		go func() { shut(t, p); close(closed) }()
		if err := <-refused; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		p.Return(held, true)
		<-closed
	})
}

func TestManyBorrowersLoseNothing(t *testing.T) {
	var s shop
	cfg := s.config()
	cfg.Most, cfg.Queue, cfg.Linger = 3, 100, time.Nanosecond
	p := New(cfg)
	var callers sync.WaitGroup
	for n := range 16 {
		callers.Go(func() {
			for k := range 200 {
				got := lease(t, p)
				got.dirt = 1
				if k%50 == 7 {
					p.Shed()
				}
				p.Return(got, (n+k)%5 != 0)
			}
		})
	}
	callers.Wait()
	shut(t, p)
	if made, freed := s.made.Load(), s.freed.Load(); made != freed {
		t.Errorf("%d made, %d freed", made, freed)
	}
}

func TestClosingWaitsForWhatIsBeingShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		config, begun, goOn := s.config(), make(chan bool), make(chan bool)
		discard := config.Discard
		config.Discard = func(t *toy) {
			begun <- true
			<-goOn
			discard(t)
		}
		p := New(config)
		p.Return(lease(t, p), true)
		synctest.Wait()
		go p.Shed()
		<-begun
		closed := make(chan error, 1)
		go func() { closed <- p.Close(t.Context()) }()
		synctest.Wait()
		if len(closed) > 0 {
			t.Error("it is closed while an instance is being freed")
		}
		close(goOn)
		if err := <-closed; err != nil || s.freed.Load() != 1 {
			t.Errorf("%v, %d freed", err, s.freed.Load())
		}
	})
}

func TestWhoGivesBackRestoresWhatIsQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		config := s.config()
		config.Quick = true
		p := New(config)
		one, other := lease(t, p), lease(t, p)
		one.dirt, other.dirt = 1, 1
		p.Return(one, true)
		p.Return(other, true)
		if now := p.Gauges(); now.Idle != 2 || now.Restored != 2 || one.dirt+other.dirt != 0 {
			t.Errorf("after both came back: %+v", now)
		}
		time.Sleep(2 * config.Linger) // the bubble's own time
		synctest.Wait()
		if now := p.Gauges(); now.Idle != 1 {
			t.Errorf("long after the burst: %+v", now)
		}
		last := lease(t, p)
		closed := make(chan struct{})
		go func() { defer close(closed); shut(t, p) }()
		synctest.Wait()
		p.Return(last, true)
		<-closed
		if s.made.Load() != s.freed.Load() {
			t.Errorf("%d made, %d freed", s.made.Load(), s.freed.Load())
		}
	})
}
