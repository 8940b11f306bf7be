// Package pool lends instances that are dear to make: never more at once than was agreed, first come first served, and
// every one as good as new. Who gives an instance back does not wait for its restoring; one that may not be restored is
// discarded. No instance is left to the garbage collector.
//
// What an instance is, and how one is made, restored and discarded, is left to the owner.
package pool

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	// ErrClosed reports that the pool lends no more.
	ErrClosed = errors.New("the pool is closed")
	// ErrBusy reports that nothing came free in time, or that too many wait already.
	ErrBusy = errors.New("all instances are in use")
)

// Config says how instances are made and how many there may be.
type Config[T any] struct {
	Most   int           // instances at once, lent and idle together; at least 1
	Least  int           // idle ones that stay after a burst
	Queue  int           // callers that may wait for one
	Linger time.Duration // how long more than Least stay idle

	Make    func(context.Context) (T, error) // runs on the borrower's goroutine
	Restore func(T) error                    // makes it as good as new, or fails; nil: each instance is lent once
	Discard func(T)                          // frees it
	Quick   bool                             // restoring takes less time than handing it over: who gives back does it
}

// Pool lends instances. It may be used from many goroutines. Close it to free them.
type Pool[T any] struct {
	config Config[T]
	wake   chan struct{} // tells the keeper that there is work
	gone   chan struct{} // closed when the keeper ended

	mu      sync.Mutex
	idle    []resting[T] // longest idle first
	used    []used[T]    // given back, to be restored or discarded
	queue   []*waiter[T] // who came first stands first
	closed  bool
	busy    int // being restored or discarded
	numbers Gauges
}

type resting[T any] struct {
	value T
	since time.Time
}

type used[T any] struct {
	value T
	whole bool // may be restored
}

type waiter[T any] struct {
	served chan grant[T] // holds one
}

// grant is an instance, or the right to make one, or the news that the pool was closed.
type grant[T any] struct {
	value T
	have  bool
	err   error
}

// Gauges are the numbers of a pool at one moment. The last four only grow.
type Gauges struct {
	Idle, Leased, Waiting, Restoring int
	Made, Discarded, Restored        int64
	RestoreTime                      time.Duration // spent on restoring, all together
}

// New starts a pool, with a goroutine that ends with Close.
func New[T any](config Config[T]) *Pool[T] {
	config.Most = max(config.Most, 1)
	p := &Pool[T]{config: config, wake: make(chan struct{}, 1), gone: make(chan struct{})}
	go p.keep()
	return p
}

// Add hands an instance over that is as good as new. A pool that is full or closed discards it.
func (p *Pool[T]) Add(value T) {
	p.mu.Lock()
	room := !p.closed && p.total() < p.config.Most
	if room {
		p.numbers.Made++
		p.settle(value)
	}
	p.mu.Unlock()
	if !room {
		p.config.Discard(value)
	}
}

// Lease lends an instance: an idle one, else a new one, else the next that comes free while patience lasts. Return must
// follow. It fails with ErrBusy, ErrClosed, the cause of ctx, or what Make said.
func (p *Pool[T]) Lease(ctx context.Context, patience time.Duration) (T, error) {
	p.mu.Lock()
	g, w, u := p.take()
	p.mu.Unlock()
	switch {
	case u != nil:
		g.value, g.have = p.help(*u)
	case w != nil:
		g = p.await(ctx, w, patience)
	}
	if g.err != nil || g.have {
		return g.value, g.err
	}
	value, err := p.config.Make(ctx)
	if err != nil {
		p.mu.Lock()
		p.numbers.Leased--
		p.pass()
		p.mu.Unlock()
		p.nudge()
		return value, err
	}
	p.mu.Lock()
	p.numbers.Made++
	p.mu.Unlock()
	return value, nil
}

// take serves who need not wait, or gives him something to restore; else it returns a place in the queue.
func (p *Pool[T]) take() (grant[T], *waiter[T], *used[T]) {
	switch {
	case p.closed:
		return grant[T]{err: ErrClosed}, nil, nil
	case len(p.queue) == 0 && len(p.idle) > 0:
		p.numbers.Leased++
		last := len(p.idle) - 1
		value := p.idle[last].value
		p.idle[last] = resting[T]{}
		p.idle = p.idle[:last]
		return grant[T]{value: value, have: true}, nil, nil
	case len(p.queue) == 0 && p.total() < p.config.Most:
		p.numbers.Leased++
		return grant[T]{}, nil, nil
	case len(p.queue) == 0 && len(p.used) > 0 && p.used[0].whole:
		u, _ := p.pick()
		return grant[T]{}, nil, &u
	case len(p.queue) >= p.config.Queue:
		return grant[T]{err: ErrBusy}, nil, nil
	}
	w := &waiter[T]{served: make(chan grant[T], 1)}
	p.queue = append(p.queue, w)
	return grant[T]{}, w, nil
}

// await waits for its turn.
func (p *Pool[T]) await(ctx context.Context, w *waiter[T], patience time.Duration) grant[T] {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case g := <-w.served:
		return g
	case <-timer.C:
		err = ErrBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.mu.Lock()
	left := p.leave(w)
	p.mu.Unlock()
	if !left { // it was served at the same moment
		return <-w.served
	}
	return grant[T]{err: err}
}

func (p *Pool[T]) leave(w *waiter[T]) bool {
	for n, other := range p.queue {
		if other == w {
			p.queue = append(p.queue[:n], p.queue[n+1:]...)
			return true
		}
	}
	return false
}

// Return gives an instance back. One that is not whole is discarded. It waits for neither, but for a quick restoring.
func (p *Pool[T]) Return(value T, whole bool) {
	p.mu.Lock()
	p.numbers.Leased--
	if p.config.Quick && whole && !p.closed {
		p.busy++
		p.mu.Unlock()
		p.finish(used[T]{value, whole})
		return
	}
	p.used = append(p.used, used[T]{value, whole})
	p.mu.Unlock()
	p.nudge()
}

// Shed discards all idle instances at once and returns how many there were.
func (p *Pool[T]) Shed() int {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.busy += len(idle) // Close waits until they are gone
	p.numbers.Discarded += int64(len(idle))
	p.mu.Unlock()
	if len(idle) == 0 {
		return 0
	}
	for _, r := range idle {
		p.config.Discard(r.value)
	}
	p.mu.Lock()
	p.busy -= len(idle)
	p.pass()
	p.mu.Unlock()
	p.nudge()
	return len(idle)
}

// Gauges returns the numbers of this moment.
func (p *Pool[T]) Gauges() Gauges {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.numbers
	now.Idle, now.Waiting, now.Restoring = len(p.idle), len(p.queue), len(p.used)+p.busy
	return now
}

// Close lends no more, sends away who waits, discards what is idle, and waits as long as ctx allows until everything
// lent was given back. It may be called again. Whatever is given back later is still discarded.
func (p *Pool[T]) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for _, w := range p.queue {
		w.served <- grant[T]{err: ErrClosed}
	}
	p.queue = nil
	p.mu.Unlock()
	p.nudge()
	select {
	case <-p.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// total counts the instances that exist or are being made.
func (p *Pool[T]) total() int { return len(p.idle) + len(p.used) + p.busy + p.numbers.Leased }

func (p *Pool[T]) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
