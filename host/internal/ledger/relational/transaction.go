package relational

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/failpoint"
)

// Tx is one write's part of a transaction.
type Tx struct {
	Session
	ledger *Ledger
	op     string
	now    time.Time
	news   News
}

// read runs look in one snapshot of the ledger.
func (l *Ledger) read(ctx context.Context, op string, look func(Session) error) error {
	if l.closed.Load() {
		return Closed(op)
	}
	err := l.driver.Read(ctx, look)
	switch {
	case err == nil:
		return nil
	case l.closed.Load():
		return Closed(op)
	case ctx.Err() != nil:
		err = Left{context.Cause(ctx)}
	}
	return l.failure(op, err)
}

// write runs change in a transaction and returns its result when it is committed. change knows the time.
func write[T any](ctx context.Context, l *Ledger, op string, change func(*Tx) (T, error)) (T, error) {
	return transact(ctx, l, op, func(t *Tx) (T, error) {
		if err := t.look(); err != nil {
			var none T
			return none, err
		}
		return change(t)
	})
}

// transact is write for a change that looks at the clock itself, after its first statement: to ask for the time costs
// some databases a round trip, unless it travels with another question.
func transact[T any](ctx context.Context, l *Ledger, op string, change func(*Tx) (T, error)) (T, error) {
	var result, none T
	if l.closed.Load() {
		return none, Closed(op)
	}
	failpoint.Hit(op, "begin")
	err := l.driver.Write(ctx, func(s Session) (News, error) {
		t := &Tx{Session: s, ledger: l, op: op}
		got, err := change(t)
		result = got
		return t.news, err
	})
	if err != nil {
		return none, l.failure(op, err) // a write that is not answered may still touch result
	}
	failpoint.Hit(op, "committed")
	return result, nil
}

// look reads the time of the transaction, once.
func (t *Tx) look() (err error) {
	t.now, err = t.Now()
	return err
}

// done is the result of a write that has none.
type done struct{}

// taken reports whether err says that a unique key exists already.
func (t *Tx) taken(err error) bool { return err != nil && t.ledger.driver.Taken(err) }

// guard keeps a name of a kind from other transactions until the commit.
func (t *Tx) guard(kind string, name ...string) error {
	if t.ledger.dialect.Guard == "" {
		return nil
	}
	rows, err := t.Query(t.ledger.dialect.Guard, fmt.Sprintf("%s %q", kind, name))
	_, err = collect(rows, err, func(Rows) (done, error) { return done{}, nil })
	return err
}
