package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// Why a ledger cannot be opened. They arrive wrapped in a *Trouble.
var (
	ErrDSN         = errors.New("the DSN cannot be read")
	ErrUnreachable = errors.New("the server cannot be reached")
	ErrCredentials = errors.New("the server refuses the account or its password")
	ErrNoDatabase  = errors.New("there is no such database")
	ErrReadOnly    = errors.New("the database is read-only")
	ErrUnusable    = errors.New("the database cannot hold a ledger")
	ErrForeign     = errors.New("the database holds another program's tables")
	ErrNewer       = errors.New("the schema is newer than the program")
	ErrBehind      = errors.New("the schema is older than the program")
)

var (
	errClosed       = relational.Closed("use database")
	errLost         = errors.New("the connection was lost")
	errRolledBack   = errors.New("the transaction was rolled back")
	errNotCommitted = errors.New("the connection was lost before the commit")
	errUncertain    = errors.New("the connection was lost during the commit, and nobody says what became of it")
)

// Trouble is why a ledger cannot be opened, in words that hold no password.
type Trouble struct {
	Where string // host, port and database; empty when the DSN does not tell
	Says  string
	cause error
}

// Error says where what is wrong.
func (t *Trouble) Error() string {
	if t.Where == "" {
		return t.Says
	}
	return t.Where + ": " + t.Says
}

// Unwrap returns one of the errors of this package, joined with what the server said.
func (t *Trouble) Unwrap() error { return t.cause }

// trouble says where an error came from, and what it means.
func trouble(settings *pgx.ConnConfig, err error) error {
	where := fmt.Sprintf("PostgreSQL at %s, database %q", net.JoinHostPort(settings.Host, fmt.Sprint(settings.Port)), settings.Database)
	var known *Trouble
	if errors.As(err, &known) {
		return &Trouble{Where: where, Says: known.Says, cause: known.cause}
	}
	says, sort := explain(err)
	return &Trouble{Where: where, Says: says, cause: errors.Join(sort, err)}
}

// explain says in words for an operator what is wrong.
func explain(err error) (says string, sort error) {
	code := coded(err)
	switch {
	case code == noDatabase:
		return ErrNoDatabase.Error() + "; create it first, or correct its name in the DSN", ErrNoDatabase
	case strings.HasPrefix(code, "28"):
		return ErrCredentials.Error() + "; correct user and password in the DSN", ErrCredentials
	case code == readOnly:
		return ErrReadOnly.Error() + unlock, ErrReadOnly
	case code == diskFull:
		return "the server's disk is full; make room there", ErrUnusable
	case code == notAllowed:
		return "the account may not do what a ledger needs: " + message(err) + "; make it the owner of the database", ErrUnusable
	case code != "" && !unreachable(err):
		return message(err), ErrUnusable
	}
	says, remedy := reason(err)
	return ErrUnreachable.Error() + says + "; " + remedy, ErrUnreachable
}

// unlock is what to do about a database that is read-only.
const unlock = "; name the primary server in the DSN, not a standby, and see to default_transaction_read_only"

// message is the server's own words, without the values that come with them.
func message(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return fmt.Sprintf("%s (SQLSTATE %s)", said.Message, said.Code)
	}
	return ""
}

// reason is the network's part of an error, and what to do about it.
func reason(err error) (says, remedy string) {
	const check = "start the server, or correct host and port in the DSN"
	var (
		said    *pgconn.PgError
		network *net.OpError
		name    *net.DNSError
	)
	switch {
	case errors.As(err, &said):
		return " (" + said.Message + ")", "see to the server, and start again"
	case errors.As(err, &name):
		return " (no such host)", "correct the host in the DSN"
	case errors.Is(err, context.DeadlineExceeded):
		return " in time", "see whether host and port in the DSN are right and a firewall is between, or raise store.connect_timeout"
	case errors.As(err, &network):
		return " (" + network.Err.Error() + ")", check
	case strings.Contains(err.Error(), "tls"), strings.Contains(err.Error(), "TLS"):
		return " with the encryption that sslmode asks for", "give the server a certificate that is trusted here, or correct sslmode in the DSN"
	}
	return "", check
}

// SQLSTATEs.
const (
	taken        = "23505"
	inTheFuture  = "22023" // said of a transaction that was never written down
	readOnly     = "25006"
	stoodStill   = "25P03" // a transaction was ended because its process stood still
	noDatabase   = "3D000"
	serialize    = "40001"
	deadlock     = "40P01"
	notAllowed   = "42501"
	diskFull     = "53100"
	crowded      = "53300"
	lockTimeout  = "55P03"
	tooSlow      = "57014"
	shutsDown    = "57P01"
	crashed      = "57P02"
	startsUp     = "57P03"
	connectClass = "08"
)

// coded returns the SQLSTATE, empty for errors that the server did not send.
func coded(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

// unreachable reports whether the server, or the connection to it, is gone: it did not answer.
func unreachable(err error) bool {
	switch code := coded(err); {
	case code == shutsDown, code == crashed, code == startsUp, code == stoodStill, strings.HasPrefix(code, connectClass):
		return true
	case code != "":
		return false
	}
	var (
		connect *pgconn.ConnectError
		network net.Error // deadlines too
	)
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, errLost) || pgconn.SafeToRetry(err)
}

// undone reports whether nothing was stored and trying again may help.
func undone(err error) bool {
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, errUncertain), errors.As(err, &connect), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, errNotCommitted):
		return true
	}
	code := coded(err)
	return code == serialize || code == deadlock || unreachable(err)
}

// Taken reports whether err says that a unique key exists already.
func (s *store) Taken(err error) bool { return coded(err) == taken }

// Sentence says in public what is wrong with the store.
func (s *store) Sentence(err error) string {
	const later = " Try again later."
	switch code := coded(err); {
	case errors.Is(err, errUncertain):
		return "The storage of the service did not say whether this was stored. Look before you try again."
	case code == diskFull:
		return "The storage of the service is full." + later
	case code == readOnly:
		return "The storage of the service cannot be written to." + later
	case code == noDatabase:
		return "The database of the service does not exist." + later
	case strings.HasPrefix(code, "28"), code == notAllowed:
		return "The storage of the service refuses the service's account." + later
	case code == crowded:
		return "The storage of the service takes no more connections." + later
	case code == lockTimeout, code == tooSlow, code == deadlock, code == serialize:
		return "The storage of the service is too busy." + later
	case unreachable(err):
		return "The storage of the service cannot be reached." + later
	}
	return "The storage of the service is not available." + later
}
