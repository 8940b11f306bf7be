package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// failure gives an error of the operation its public face. Errors that have one, the ledger's own words and the ends
// of contexts pass.
func failure(op string, err error) error {
	var (
		public *run.Error
		gone   left
		wrong  misuse
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &public):
		return err
	case errors.As(err, &gone):
		return fmt.Errorf("%s: %w", op, gone.cause)
	case errors.As(err, &wrong), errors.Is(err, ledger.ErrFenced), errors.Is(err, ledger.ErrEmpty),
		errors.Is(err, ledger.ErrOwned):
		return fmt.Errorf("%s: %w", op, err)
	}
	return &run.Error{Code: run.CodeStore, Sentence: sentence(err), Op: op, Cause: err}
}

// left is the end of a caller's context, with its cause.
type left struct{ cause error }

func (l left) Error() string { return l.cause.Error() }
func (l left) Unwrap() error { return l.cause }

// misuse is a request that no ledger may fulfil: a bug of its caller.
type misuse string

func (m misuse) Error() string { return string(m) }

// sentence says in public what is wrong with the store.
func sentence(err error) string {
	switch primary(err) {
	case sqlite3.SQLITE_FULL:
		return "The storage of the service is full. Try again later."
	case sqlite3.SQLITE_READONLY:
		return "The storage of the service cannot be written to. Try again later."
	}
	return "The storage of the service is not available. Try again later."
}

// primary returns SQLite's primary result code, 0 for other errors.
func primary(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// taken reports whether err says that a unique key exists already.
func taken(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) &&
		(e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

func closedError(op string) error {
	return &run.Error{
		Code: run.CodeStore, Sentence: "The storage of the service is closed.", Op: op, Cause: ledger.ErrClosed,
	}
}

func unknownRun(op string) error {
	return &run.Error{Code: run.CodeNotFound, Sentence: "Run not found", Op: op, Cause: ledger.ErrUnknown}
}

func unknownApproval(op string) error {
	return &run.Error{Code: run.CodeNotFound, Sentence: "Approval not found", Op: op, Cause: ledger.ErrUnknown}
}
