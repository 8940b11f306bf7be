package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// tx is one write's part of a transaction.
type tx struct {
	*session
	now time.Time
}

func (t tx) Query(statement string, args ...any) (relational.Rows, error) {
	return t.query(statement, args...)
}

func (t tx) Exec(statement string, args ...any) (int64, error) { return t.count(statement, args...) }
func (t tx) Later(statement string, args ...any) error         { return t.exec(statement, args...) }
func (t tx) Now() (time.Time, error)                           { return t.now, nil }

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
	news, err := mine.do(tx{s, relational.Exact(w.clock())})
	if err != nil {
		if lost := s.exec(`ROLLBACK TO one`); lost != nil {
			return result{}, err
		}
		return result{err: err}, s.exec(`RELEASE one`)
	}
	return result{news: news}, s.exec(`RELEASE one`)
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
