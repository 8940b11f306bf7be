package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// Read runs look on a reader's connection, in one snapshot of the ledger.
func (s *store) Read(ctx context.Context, look func(relational.Session) error) error {
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // a reader has nothing to lose
	query := func(statement string, args ...any) (*sql.Rows, error) {
		return tx.QueryContext(ctx, statement, args...)
	}
	return look(snapshot{query, relational.Exact(s.clock())})
}

var errReadOnly = errors.New("a reader changes nothing")

// snapshot is a session that only reads.
type snapshot struct {
	query func(statement string, args ...any) (*sql.Rows, error)
	now   time.Time
}

func (s snapshot) Query(statement string, args ...any) (relational.Rows, error) {
	return s.query(statement, args...)
}
func (s snapshot) Exec(string, ...any) (int64, error) { return 0, errReadOnly }
func (s snapshot) Later(string, ...any) error         { return errReadOnly }
func (s snapshot) Now() (time.Time, error)            { return s.now, nil }
