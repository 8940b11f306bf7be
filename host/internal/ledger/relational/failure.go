package relational

import (
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// failure gives an error of the operation its public face. Errors that have one, the ledger's own words and the ends
// of contexts pass.
func (l *Ledger) failure(op string, err error) error {
	var (
		public *run.Error
		gone   Left
		wrong  misuse
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &public):
		return err
	case errors.As(err, &gone):
		return fmt.Errorf("%s: %w", op, gone.Cause)
	case errors.As(err, &wrong), errors.Is(err, ledger.ErrFenced), errors.Is(err, ledger.ErrEmpty),
		errors.Is(err, ledger.ErrFull), errors.Is(err, ledger.ErrBusy):
		return fmt.Errorf("%s: %w", op, err)
	}
	return &run.Error{Code: run.CodeStore, Sentence: l.driver.Sentence(err), Op: op, Cause: err}
}

// Left is the end of a caller's context, with its cause: nothing was done.
type Left struct{ Cause error }

// Error returns the cause's words.
func (l Left) Error() string { return l.Cause.Error() }

// Unwrap returns the cause.
func (l Left) Unwrap() error { return l.Cause }

// misuse is a request that no ledger may fulfil: a bug of its caller.
type misuse string

func (m misuse) Error() string { return string(m) }

// Closed is the answer of a ledger that is closed.
func Closed(op string) error {
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
