package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

const (
	queueLength = 1024            // writes that may wait; more wait to be let in
	groupLimit  = 128             // writes that one commit carries
	commitGrace = 5 * time.Second // how long the caller of a write under way outlives its context
)

// The states of an order.
const (
	waiting   = int32(iota) // in the queue
	underWay                // the writer has it: its answer will come
	abandoned               // its caller left first: it will not be done
)

// order is one change on its way to the disk.
type order struct {
	do     relational.Change
	state  atomic.Int32
	answer chan error
}

// move changes the state from waiting and reports whether it was the first to do so.
func (w *order) move(to int32) bool { return w.state.CompareAndSwap(waiting, to) }

// writer owns the only connection that writes.
type writer struct {
	db      *sql.DB
	clock   func() time.Time
	notices *relational.Notices
	log     *slog.Logger
	queue   chan *order
	closing chan struct{} // closed by close: no write enters any more
	stopped chan struct{} // closed by loop: every write that was taken has its answer

	session *session // loop only
}

func newWriter(db *sql.DB, clock func() time.Time, n *relational.Notices, log *slog.Logger) *writer {
	return &writer{
		db: db, clock: clock, notices: n, log: log,
		queue:   make(chan *order, queueLength),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
}

// do runs change in a transaction and returns when it is committed or refused. A write that waits when ctx ends is
// taken back and never done. One that is under way is waited for a little longer, because its caller must know: a
// claim nobody knows of would be lost.
func (w *writer) do(ctx context.Context, change relational.Change) error {
	mine := &order{do: change, answer: make(chan error, 1)}
	mine.state.Store(waiting)
	if err := w.enter(ctx, mine); err != nil {
		return err
	}
	select {
	case err := <-mine.answer:
		return err
	case <-w.stopped:
		if mine.move(abandoned) {
			return errStopped
		}
		return <-mine.answer
	case <-ctx.Done():
		if mine.move(abandoned) {
			return relational.Left{Cause: context.Cause(ctx)}
		}
	}
	grace := time.NewTimer(commitGrace)
	defer grace.Stop()
	select {
	case err := <-mine.answer:
		return err
	case <-grace.C:
		return errors.Join(errUncertain, context.Cause(ctx))
	}
}

var (
	errStopped   = relational.Closed("write to ledger")
	errUncertain = errors.New("the disk does not answer: the write may still happen")
)

func (w *writer) enter(ctx context.Context, mine *order) error {
	select {
	case <-w.closing:
		return errStopped
	case <-ctx.Done():
		return relational.Left{Cause: context.Cause(ctx)}
	default:
	}
	select {
	case w.queue <- mine:
		return nil
	case <-w.closing:
		return errStopped
	case <-ctx.Done():
		return relational.Left{Cause: context.Cause(ctx)}
	}
}

// close refuses new writes, waits for those in the queue and closes the connection.
func (w *writer) close() error {
	close(w.closing)
	<-w.stopped
	return w.db.Close()
}

// loop commits what comes until close is called and the queue is empty.
func (w *writer) loop() {
	defer close(w.stopped)
	defer w.drop()
	for {
		select {
		case first := <-w.queue:
			w.commit(w.gather(first))
			continue
		default:
		}
		select {
		case first := <-w.queue:
			w.commit(w.gather(first))
		case <-w.closing:
			if len(w.queue) == 0 {
				return
			}
		}
	}
}

// gather takes what waits behind first, as far as one commit carries it.
func (w *writer) gather(first *order) []*order {
	var group []*order
	for next := first; ; {
		if next.move(underWay) {
			group = append(group, next)
		}
		if len(group) == groupLimit {
			return group
		}
		select {
		case next = <-w.queue:
		default:
			return group
		}
	}
}

// commit does the writes in one transaction, tells who watches and answers. When the transaction as a whole is lost,
// each write gets one of its own, so that only the one to blame fails.
func (w *writer) commit(group []*order) {
	if len(group) == 0 {
		return
	}
	results, err := w.attempt(group)
	if err != nil && len(group) > 1 {
		for i := range group {
			w.commit(group[i : i+1])
		}
		return
	}
	for i, mine := range group {
		if err != nil {
			mine.answer <- err
			continue
		}
		w.notices.Publish(results[i].news)
		mine.answer <- results[i].err
	}
}

// result is what one write of a committed group came to.
type result struct {
	news relational.News
	err  error
}
