package wasm

import (
	"context"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// memoryBudget bounds the linear memory of all instances of a host together. Who wants to start an instance waits his
// turn; who runs already and wants more is refused at once, for he would wait for himself.
type memoryBudget struct {
	limit  int64    // bytes
	shed   func()   // discards what is idle
	mapped mappings // memories that exist

	mu    sync.Mutex
	used  int64
	queue []*memoryWaiter // who came first stands first
}

type memoryWaiter struct {
	bytes  int64
	served chan struct{} // closed when the bytes are his
}

// take takes bytes that are free.
func (b *memoryBudget) take(bytes int64) bool {
	if b.tryTake(bytes) {
		return true
	}
	b.shed()
	return b.tryTake(bytes)
}

func (b *memoryBudget) tryTake(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+bytes > b.limit {
		return false
	}
	b.used += bytes
	return true
}

// shedAgain is after how long a waiter looks for idle instances once more: one may have come to rest just after he had
// looked, and nothing else would wake him.
const shedAgain = 20 * time.Millisecond

// await takes bytes, when necessary after those who came before and as long as patience lasts, or until stop is closed.
func (b *memoryBudget) await(ctx context.Context, bytes int64, patience time.Duration, stop <-chan struct{}) error {
	w := b.enter(bytes)
	if w == nil {
		return nil
	}
	err := b.wait(ctx, w, patience, stop)
	if err != nil && !b.leave(w) {
		return nil // it was served at the same moment
	}
	return err
}

func (b *memoryBudget) wait(ctx context.Context, w *memoryWaiter, patience time.Duration, stop <-chan struct{}) error {
	timer, again := time.NewTimer(patience), time.NewTicker(shedAgain)
	defer timer.Stop()
	defer again.Stop()
	for {
		b.shed()
		select {
		case <-w.served:
			return nil
		case <-again.C:
		case <-timer.C:
			return fail(run.PluginBusy, "the memory of all plugins together is in use: plugins.limits.memory_bytes")
		case <-stop:
			return timedOut(ErrClosed)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enter takes bytes at once when nobody waits and there is room; else it queues.
func (b *memoryBudget) enter(bytes int64) *memoryWaiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 && b.used+bytes <= b.limit {
		b.used += bytes
		return nil
	}
	w := &memoryWaiter{bytes, make(chan struct{})}
	b.queue = append(b.queue, w)
	return w
}

func (b *memoryBudget) leave(w *memoryWaiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n, other := range b.queue {
		if other == w {
			b.queue = append(b.queue[:n], b.queue[n+1:]...)
			b.serve()
			return true
		}
	}
	return false
}

func (b *memoryBudget) give(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= bytes
	b.serve()
}

// serve gives those who wait what is free, in their order.
func (b *memoryBudget) serve() {
	for len(b.queue) > 0 && b.used+b.queue[0].bytes <= b.limit {
		b.used += b.queue[0].bytes
		close(b.queue[0].served)
		b.queue[0] = nil
		b.queue = b.queue[1:]
	}
}

// pressed reports whether somebody waits for memory.
func (b *memoryBudget) pressed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) > 0
}

func (b *memoryBudget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
