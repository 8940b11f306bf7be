package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// session is one connection with its prepared statements. It belongs to one goroutine. Nothing interrupts its
// statements: an interrupted one would take the whole group's transaction with it.
type session struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt // by text; the texts are this package's constants, so there are few
}

func (s *session) prepare(query string) (*sql.Stmt, error) {
	if statement, ok := s.statements[query]; ok {
		return statement, nil
	}
	statement, err := s.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	s.statements[query] = statement
	return statement, nil
}

func (s *session) exec(query string, args ...any) error {
	_, err := s.count(query, args...)
	return err
}

// count executes a statement and returns how many rows it changed.
func (s *session) count(query string, args ...any) (int64, error) {
	statement, err := s.prepare(query)
	if err != nil {
		return 0, err
	}
	done, err := statement.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (s *session) query(query string, args ...any) (*sql.Rows, error) {
	statement, err := s.prepare(query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(context.Background(), args...)
}

// close gives the connection up for good. Statements go first, and not at all when database/sql closed the
// connection itself: the driver cannot close a statement of a closed connection.
func (s *session) close() error {
	if err := s.conn.PingContext(context.Background()); errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	var failed error
	for _, statement := range s.statements {
		failed = errors.Join(failed, statement.Close())
	}
	err := s.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil
	}
	return errors.Join(failed, err)
}
