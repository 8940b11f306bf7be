package sqlite

import (
	"context"
	"database/sql"
)

// read runs look on a reader's connection, in one snapshot of the ledger.
func (l *Ledger) read(ctx context.Context, op string, look func(*sql.Tx) error) error {
	if l.closed.Load() {
		return closedError(op)
	}
	err := l.look(ctx, look)
	switch {
	case err == nil:
		return nil
	case l.closed.Load():
		return closedError(op)
	case ctx.Err() != nil:
		err = left{context.Cause(ctx)}
	}
	return failure(op, err)
}

func (l *Ledger) look(ctx context.Context, look func(*sql.Tx) error) error {
	snapshot, err := l.readers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer snapshot.Rollback() //nolint:errcheck // a reader has nothing to lose
	return look(snapshot)
}

// write runs change in a transaction and returns its result when it is committed.
func write[T any](ctx context.Context, l *Ledger, op string, change func(*tx) (T, error)) (T, error) {
	var result, none T
	err := l.writer.do(ctx, func(t *tx) error {
		got, err := change(t)
		result = got
		return err
	})
	if err != nil {
		return none, failure(op, err) // a write that is not answered may still touch result
	}
	return result, nil
}

// done is the result of a write that has none.
type done struct{}
