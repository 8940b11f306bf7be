package wasm

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed reports a call after the host was closed.
var ErrClosed = errors.New("plugin host is closed")

// calls counts the calls that run, so that closing can end them and wait. Code must not be unmapped under a guest.
type calls struct {
	mu      sync.Mutex
	closed  bool
	next    int
	cancels map[int]context.CancelCauseFunc
	idle    chan struct{} // closed when closed and empty
}

func newCalls() *calls {
	return &calls{cancels: map[int]context.CancelCauseFunc{}, idle: make(chan struct{})}
}

// enter registers a call. leave must follow, once.
func (c *calls) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	id := c.next
	c.next++
	c.cancels[id] = cancel
	return ctx, func() { c.leave(id) }, nil
}

func (c *calls) leave(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels[id](nil)
	delete(c.cancels, id)
	if c.closed && len(c.cancels) == 0 {
		close(c.idle)
	}
}

// close refuses new calls, ends those that run and waits for them as long as ctx allows. It may be called again.
func (c *calls) close(ctx context.Context) error {
	if c.shut() == 0 {
		return nil
	}
	select {
	case <-c.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// shut returns how many calls still run.
func (c *calls) shut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && len(c.cancels) == 0 {
		close(c.idle)
	}
	c.closed = true
	for _, cancel := range c.cancels {
		cancel(ErrClosed)
	}
	return len(c.cancels)
}
