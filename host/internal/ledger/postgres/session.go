package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// session is the statements of one transaction. What nobody waits for travels with what comes next: a transaction
// costs as many round trips as it has questions, and one for its end.
type session struct {
	store  *store
	conn   *pgxpool.Conn
	within timed      // the time it has
	waits  *pgx.Batch // what is to be sent with the next statement
	named  bool       // the second statement asks for the time and for what the transaction is called
	begun  bool       // the server has answered
	now    time.Time  // zero: nobody asked
	called calling    // what the server calls the transaction, once it has said so
	broken error      // what came of a statement that failed
}

// calling is how a transaction can be asked for.
type calling struct {
	xid string
	at  int64 // when the server gave it that number, in microseconds since 1970
}

// timed does what needs the time of a transaction.
type timed struct {
	send    func(*pgxpool.Conn, *pgx.Batch) pgx.BatchResults
	acquire func() (*pgxpool.Conn, error)
}

// within binds what a transaction does to a time.
func (s *store) within(ctx context.Context) timed {
	return timed{
		send: func(conn *pgxpool.Conn, batch *pgx.Batch) pgx.BatchResults { return conn.SendBatch(ctx, batch) },
		acquire: func() (*pgxpool.Conn, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return s.acquire(ctx)
		},
	}
}

// begin returns a transaction that begins with its first statement.
func (s *store) begin(conn *pgxpool.Conn, within timed, how string) *session {
	t := &session{store: s, conn: conn, within: within, waits: &pgx.Batch{}}
	t.waits.Queue(how)
	return t
}

// Query sends what waits, and then asks.
func (t *session) Query(statement string, args ...any) (relational.Rows, error) {
	answers, err := t.ask(statement, args)
	if err != nil {
		return nil, err
	}
	found, err := answers.Query()
	if err != nil {
		_ = answers.Close()
		return nil, t.failed(err)
	}
	return &rows{Rows: found, answers: answers, session: t}, nil
}

// Exec sends what waits, and then the statement.
func (t *session) Exec(statement string, args ...any) (int64, error) {
	answers, err := t.ask(statement, args)
	if err != nil {
		return 0, err
	}
	done, err := answers.Exec()
	if closed := answers.Close(); err == nil {
		err = closed
	}
	return done.RowsAffected(), t.failed(err)
}

// Later keeps the statement until the next one is sent.
func (t *session) Later(statement string, args ...any) error {
	t.waits.Queue(dollars(statement), clean(args)...)
	return nil
}

// Now returns the time of the transaction's begin, by the database unless a test has a clock.
func (t *session) Now() (time.Time, error) {
	if t.now.IsZero() && t.store.clock != nil {
		t.now = relational.Exact(t.store.clock())
	}
	if !t.now.IsZero() {
		return t.now, nil
	}
	if t.named && !t.begun {
		err := t.learn()
		return t.now, err
	}
	var at int64
	if err := t.one(`SELECT `+now, &at); err != nil {
		return time.Time{}, err
	}
	t.now = micros(at)
	return t.now, nil
}

// name has a transaction that writes ask with its first statement for the time, and for what the server calls it: by
// that its fate can be asked for later.
func (t *session) name() {
	t.waits.Queue(`SELECT CAST(pg_current_xact_id() AS TEXT), ` + now)
	t.named = true
}

// learn sends what waits, and reads the answer to the question of name.
func (t *session) learn() error {
	if t.waits.Len() > 2 { // it is read on the way to the last one
		_, err := t.Exec(`SELECT 1`)
		return err
	}
	answers, err := t.send()
	if err != nil {
		return err
	}
	err = t.read(answers)
	if closed := answers.Close(); err == nil {
		err = closed
	}
	return t.failed(err)
}

// read reads the answer to the question of name.
func (t *session) read(answers pgx.BatchResults) error {
	if err := answers.QueryRow().Scan(&t.called.xid, &t.called.at); err != nil {
		return err
	}
	if t.store.clock == nil {
		t.now = micros(t.called.at)
	}
	return nil
}

// one reads the only row of an answer.
func (t *session) one(statement string, dest ...any) error {
	found, err := t.Query(statement)
	if err != nil {
		return err
	}
	for found.Next() {
		if err := found.Scan(dest...); err != nil {
			return errors.Join(err, found.Close())
		}
	}
	return found.Close()
}

// ask sends what waits with one statement more, and reads the answers up to that one's.
func (t *session) ask(statement string, args []any) (pgx.BatchResults, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	t.waits.Queue(dollars(statement), clean(args)...)
	return t.send()
}

// send sends what waits and reads all answers but the last. A connection that was lost while nobody used it shows at
// the first statement: then another one is taken.
func (t *session) send() (pgx.BatchResults, error) {
	for replaced := 0; ; replaced++ {
		answers := t.within.send(t.conn, t.waits)
		err := t.skip(answers, t.waits.Len()-1)
		if err == nil {
			t.waits, t.begun = &pgx.Batch{}, true
			return answers, nil
		}
		_ = answers.Close() // says it again
		err = t.gone(err)
		if t.begun || replaced == replacements || !unreachable(err) {
			return nil, t.failed(err)
		}
		if failed := t.replace(); failed != nil {
			return nil, t.failed(errors.Join(err, failed))
		}
	}
}

// replacements is how many connections a transaction tries.
const replacements = 3

// skip reads n answers.
func (t *session) skip(answers pgx.BatchResults, n int) error {
	for i := range n {
		var err error
		if i == 1 && t.named && !t.begun {
			err = t.read(answers)
		} else {
			_, err = answers.Exec()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replace takes a new connection in place of one that is gone, and has the pool look at its others.
func (t *session) replace() error {
	t.conn.Release()
	t.store.pool.Reset()
	conn, err := t.within.acquire()
	if err != nil {
		t.conn = nil
		return err
	}
	t.conn = conn
	return nil
}

// gone says of an error that the connection was lost with it, whatever it says itself.
func (t *session) gone(err error) error {
	if err != nil && t.conn != nil && t.conn.Conn().IsClosed() && !unreachable(err) {
		return errors.Join(errLost, err)
	}
	return err
}

// failed remembers that the transaction cannot go on.
func (t *session) failed(err error) error {
	err = t.gone(err)
	if err != nil && t.broken == nil {
		t.broken = err
	}
	return err
}

// end gives the connection back. One whose transaction is open, because the server does not answer, is given up.
func (t *session) end(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if t.begun && t.conn.Conn().PgConn().TxStatus() != 'I' && !t.conn.Conn().IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTime)
		defer cancel()
		_, _ = t.conn.Conn().PgConn().Exec(ctx, `ROLLBACK`).ReadAll() // the pool gives up what is still in a transaction
	}
	t.conn.Release()
	t.conn = nil
}

// rows is the answer to one query of a batch.
type rows struct {
	pgx.Rows
	answers pgx.BatchResults
	session *session
	closed  bool
}

func (r *rows) Err() error { return r.session.failed(r.Rows.Err()) }

// Close reads what is left of the answer.
func (r *rows) Close() error {
	r.Rows.Close()
	if r.closed {
		return r.Err()
	}
	r.closed = true
	err := r.answers.Close()
	if failed := r.Rows.Err(); failed != nil {
		err = failed
	}
	return r.session.failed(err)
}
