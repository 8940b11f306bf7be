// Package relational is the ledger in SQL. It promises that its statements mean the same in every database that a
// driver brings: what is one transaction here is one transaction there, and what is told is told after the commit.
//
// Connections, transactions, the words of failures and the schema are left to the drivers beside it.
package relational

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Driver is a database.
type Driver interface {
	// Write runs change in one transaction, publishes after the commit the News it returned, and then returns. change
	// may run again after a rollback, so it sets its results anew. An error of change comes back as it is. A driver
	// that did nothing because ctx ended returns Left; one that was closed meanwhile, Closed.
	Write(ctx context.Context, change Change) error
	// Read runs look in one snapshot of the database.
	Read(ctx context.Context, look func(Session) error) error
	// Taken reports whether err says that a unique key exists already.
	Taken(err error) bool
	// Sentence says in public what is wrong with the store.
	Sentence(err error) string
	// Close waits for what was accepted.
	Close() error
}

// Change is one write's part of a transaction.
type Change func(Session) (News, error)

// Session is the statements of one transaction, for one goroutine. Parameters are ?1, ?2, … by number, or ? in order,
// and never both. An argument is a string, []byte, int, int64, or *int64 where nil is NULL.
type Session interface {
	// Query returns rows. They are closed before the next statement.
	Query(statement string, args ...any) (Rows, error)
	// Exec returns how many rows a statement changed.
	Exec(statement string, args ...any) (changed int64, err error)
	// Later does a statement whose count nobody needs before whatever comes next. Its error may come from that.
	Later(statement string, args ...any) error
	// Now returns the ledger's time, in UTC and whole microseconds, the same all through a transaction.
	Now() (time.Time, error)
}

// Rows is the answer to a query.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Dialect is the texts in which databases differ. The zero value is that of one with a single writer.
type Dialect struct {
	Lock   string // ends a SELECT whose rows are to stay as they are until the commit
	Skip   string // the same, and passes over rows that another transaction has locked
	Guard  string // a query that keeps the name ?1 from other transactions until the commit
	Freeze string // a statement of a reader that waits until every audit record with a lower sequence is there or never will be
}

// Config is what a ledger is made of.
type Config struct {
	Driver  Driver
	Dialect Dialect
	Notices *Notices
	Outbox  bool // whether approvals are told outside: a notice is committed with each
}

// Ledger is a ledger on a driver. Its methods may be called from many goroutines.
type Ledger struct {
	driver  Driver
	dialect Dialect
	notices *Notices
	outbox  bool
	closed  atomic.Bool
}

var _ ledger.Ledger = (*Ledger)(nil)

// New returns a ledger on an open driver, which it closes.
func New(cfg Config) *Ledger {
	return &Ledger{driver: cfg.Driver, dialect: cfg.Dialect, notices: cfg.Notices, outbox: cfg.Outbox}
}

// Close waits until everything that was accepted is committed. Watchers are told once more, so that whoever waits
// reads again and gets ErrClosed, as every later call does.
func (l *Ledger) Close() error {
	if l.closed.Swap(true) {
		return Closed("close ledger")
	}
	err := l.driver.Close()
	l.notices.TellAll()
	return err
}

// Wake returns the channel on which the one dispatcher hears of work and cancels.
func (l *Ledger) Wake() <-chan struct{} { return l.notices.wake }

// Outgoing returns the channel on which the one messenger hears of new notices.
func (l *Ledger) Outgoing() <-chan struct{} { return l.notices.outgoing }

// Watch returns a channel that holds a value whenever the run may have changed. stop may be called twice.
func (l *Ledger) Watch(ref run.Ref) (notice <-chan struct{}, stop func()) {
	return l.notices.watch(ref)
}
