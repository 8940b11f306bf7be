package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

var (
	// ErrSaturated reports that every goroutine is busy and the queue is full.
	ErrSaturated = errors.New("executor is saturated")
	// ErrClosed reports that the executor takes no more work. It is an ErrSaturated too.
	ErrClosed = fmt.Errorf("executor is closed: %w", ErrSaturated)
)

// Config is what an executor is made of.
type Config struct {
	Name  string // stands in errors
	Size  int    // goroutines; above zero
	Queue int    // tasks that may wait; not below zero
}

// Executor owns a fixed number of goroutines from New to Close. It may be used from many goroutines.
type Executor struct {
	cfg     Config
	stop    context.Context // ends every task; cancelled by Close only
	end     context.CancelCauseFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	wake    *sync.Cond // a task was queued, or the executor closed
	queue   []*task
	running int
	refused int64 // tasks, since the start
	closed  bool
}

// task is work that was taken.
type task struct {
	work func() error
	done chan error // holds one value in the end
}

// New starts an executor, or fails when a limit is out of bounds.
func New(cfg Config) (*Executor, error) {
	if cfg.Size <= 0 || cfg.Queue < 0 {
		return nil, fmt.Errorf("start executor %s: size %d and queue %d are out of bounds", cfg.Name, cfg.Size, cfg.Queue)
	}
	e := &Executor{cfg: cfg}
	e.stop, e.end = context.WithCancelCause(context.Background())
	e.wake = sync.NewCond(&e.mu)
	for range cfg.Size {
		e.workers.Go(e.serve)
	}
	return e, nil
}

// Do runs work on one of the goroutines and returns its error, ErrSaturated when there is no room, or the cause of ctx
// as soon as that ends. The context that the work gets ends then too; a task that still waits never begins, and what a
// task that goes on returns is dropped: it must not touch what the caller reads unless Do returned nil.
func (e *Executor) Do(ctx context.Context, work func(ctx context.Context) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := &task{work: func() error { return e.work(ctx, work) }, done: make(chan error, 1)}
	if err := e.admit(t); err != nil {
		return err
	}
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		e.withdraw(t)
		return context.Cause(ctx)
	}
}

// Submit hands work over and returns at once: nil when it will run, ErrSaturated when there is no room. A panic in it
// is contained and told to nobody.
func (e *Executor) Submit(work func()) error {
	return e.admit(&task{
		work: func() error { return Contain(func() error { work(); return nil }) },
		done: make(chan error, 1),
	})
}

// admit queues a task when there is room.
func (e *Executor) admit(t *task) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		e.refused++
		return fmt.Errorf("%s: %w", e.cfg.Name, ErrClosed)
	case e.running+len(e.queue) >= e.cfg.Size+e.cfg.Queue:
		e.refused++
		return fmt.Errorf("%s: %w", e.cfg.Name, ErrSaturated)
	}
	e.queue = append(e.queue, t)
	e.wake.Signal()
	return nil
}

// withdraw gives the place of a task back that still waits.
func (e *Executor) withdraw(t *task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, waiting := range e.queue {
		if waiting == t {
			e.queue = append(e.queue[:i:i], e.queue[i+1:]...)
			return
		}
	}
}

// serve runs tasks until the executor is closed and nothing waits.
func (e *Executor) serve() {
	for t := e.next(); t != nil; t = e.next() {
		err := t.work()
		e.leave()
		t.done <- err
	}
}

// next waits for a task; nil means that there will be none.
func (e *Executor) next() *task {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.queue) == 0 {
		if e.closed {
			return nil
		}
		e.wake.Wait()
	}
	t := e.queue[0]
	e.queue = e.queue[1:]
	e.running++
	return t
}

// work does work under a context that ends with the caller's or the executor's.
func (e *Executor) work(caller context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	defer context.AfterFunc(e.stop, func() { cancel(context.Cause(e.stop)) })()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return Contain(func() error { return work(ctx) })
}

func (e *Executor) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running--
}

// Close takes no more work and waits until everything that was taken has ended. When ctx ends first, the contexts of
// what is left end too, and Close returns the cause without waiting longer.
func (e *Executor) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.wake.Broadcast()
	e.mu.Unlock()
	drained := make(chan struct{})
	go func() { e.workers.Wait(); close(drained) }()
	select {
	case <-drained:
		e.end(ErrClosed)
		return nil
	case <-ctx.Done():
		e.end(ErrClosed)
		return fmt.Errorf("drain executor %s: %w", e.cfg.Name, context.Cause(ctx))
	}
}
