package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/fastreact/fastreact/host/internal/run"
)

// tx is one write's part of a transaction.
type tx struct {
	*session
	now     time.Time
	changed []run.Ref // whose watchers are told after the commit
	wake    bool      // the dispatcher is told after the commit

	outbox   bool // whether approvals are told outside
	outgoing bool // the messenger is told after the commit
}

// attempt runs the group in one transaction. Its error means that nothing of it happened.
func (w *writer) attempt(group []*order) ([]result, error) {
	s, err := w.open()
	if err != nil {
		return nil, err
	}
	if err := s.exec(`BEGIN IMMEDIATE`); err != nil {
		w.drop()
		return nil, err
	}
	results := make([]result, len(group))
	for i, mine := range group {
		if results[i], err = w.one(s, mine); err != nil {
			break
		}
	}
	if err == nil {
		err = s.exec(`COMMIT`)
	}
	if err != nil {
		w.undo(s)
		return nil, err
	}
	return results, nil
}

// one runs a write between savepoints. Its error means that the whole transaction is lost.
func (w *writer) one(s *session, mine *order) (result, error) {
	if err := s.exec(`SAVEPOINT one`); err != nil {
		return result{}, err
	}
	t := &tx{session: s, now: exact(w.clock()), outbox: w.outbox}
	if err := mine.do(t); err != nil {
		if lost := s.exec(`ROLLBACK TO one`); lost != nil {
			return result{}, err
		}
		return result{err: err}, s.exec(`RELEASE one`)
	}
	return result{changed: t.changed, wake: t.wake, tell: t.outgoing}, s.exec(`RELEASE one`)
}

// undo ends a transaction that failed. A connection that cannot even do that is given up.
func (w *writer) undo(s *session) {
	if err := s.exec(`ROLLBACK`); err != nil && primary(err) != sqlite3.SQLITE_ERROR {
		w.log.Warn("ledger connection given up", slog.Any("error", err))
		w.drop()
	}
}

// open returns the connection, a new one when the last was given up.
func (w *writer) open() (*session, error) {
	if w.session != nil {
		return w.session, nil
	}
	conn, err := w.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	w.session = &session{conn: conn, statements: map[string]*sql.Stmt{}}
	return w.session, nil
}

func (w *writer) drop() {
	if w.session == nil {
		return
	}
	if err := w.session.close(); err != nil {
		w.log.Warn("cannot close ledger connection", slog.Any("error", err))
	}
	w.session = nil
}
