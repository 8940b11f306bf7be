package sqlite

import (
	"sync"

	"github.com/fastreact/fastreact/host/internal/run"
)

// notices tells who waits that something changed. A channel that already holds a notice is left as it is: its reader
// has yet to look, and will see everything.
type notices struct {
	wake     chan struct{}
	outgoing chan struct{} // to the messenger

	mu       sync.Mutex
	watchers map[run.Ref]map[chan struct{}]struct{}
}

// newNotices starts with a wake-up pending: an opened ledger may hold work.
func newNotices() *notices {
	n := &notices{
		wake: make(chan struct{}, 1), outgoing: make(chan struct{}, 1),
		watchers: map[run.Ref]map[chan struct{}]struct{}{},
	}
	tell(n.wake)
	tell(n.outgoing)
	return n
}

func tell(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}

// publish tells the watchers of the runs, and the dispatcher and the messenger when there is something for them.
func (n *notices) publish(done result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ref := range done.changed {
		for notice := range n.watchers[ref] {
			tell(notice)
		}
	}
	if done.wake {
		tell(n.wake)
	}
	if done.tell {
		tell(n.outgoing)
	}
}

func (n *notices) tellAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, watchers := range n.watchers {
		for notice := range watchers {
			tell(notice)
		}
	}
	tell(n.wake)
}

// Watch returns a channel that holds a value whenever the run may have changed. stop may be called twice.
func (l *Ledger) Watch(ref run.Ref) (notice <-chan struct{}, stop func()) {
	return l.notices.watch(ref)
}

func (n *notices) watch(ref run.Ref) (notice <-chan struct{}, stop func()) {
	mine := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers[ref] == nil {
		n.watchers[ref] = map[chan struct{}]struct{}{}
	}
	n.watchers[ref][mine] = struct{}{}
	return mine, func() { n.forget(ref, mine) }
}

func (n *notices) forget(ref run.Ref, notice chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.watchers[ref], notice)
	if len(n.watchers[ref]) == 0 {
		delete(n.watchers, ref)
	}
}
