package relational

import (
	"sync"

	"github.com/fastreact/fastreact/host/internal/run"
)

// News is what is told after a commit.
type News struct {
	Changed []run.Ref // whose watchers are told
	Work    bool      // the dispatcher is told
	Mail    bool      // the messenger is told
}

// Notices tells who waits that something changed. A channel that already holds a notice is left as it is: its reader
// has yet to look, and will see everything.
type Notices struct {
	wake     chan struct{}
	outgoing chan struct{} // to the messenger

	mu       sync.Mutex
	watchers map[run.Ref]map[chan struct{}]struct{}
}

// NewNotices starts with a wake-up pending: an opened ledger may hold work.
func NewNotices() *Notices {
	n := &Notices{
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

// Publish tells the watchers of the runs, and the dispatcher and the messenger when there is something for them.
func (n *Notices) Publish(news News) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ref := range news.Changed {
		for notice := range n.watchers[ref] {
			tell(notice)
		}
	}
	if news.Work {
		tell(n.wake)
	}
	if news.Mail {
		tell(n.outgoing)
	}
}

// TellAll tells everybody: news may have been lost.
func (n *Notices) TellAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, watchers := range n.watchers {
		for notice := range watchers {
			tell(notice)
		}
	}
	tell(n.wake)
	tell(n.outgoing)
}

func (n *Notices) watch(ref run.Ref) (notice <-chan struct{}, stop func()) {
	mine := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers[ref] == nil {
		n.watchers[ref] = map[chan struct{}]struct{}{}
	}
	n.watchers[ref][mine] = struct{}{}
	return mine, func() { n.forget(ref, mine) }
}

func (n *Notices) forget(ref run.Ref, notice chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.watchers[ref], notice)
	if len(n.watchers[ref]) == 0 {
		delete(n.watchers, ref)
	}
}
