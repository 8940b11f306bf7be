package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

const (
	beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED`
	beginRead  = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

	writeTries = 6                     // of a write that the server rolled back, though it might have succeeded
	tryPause   = 10 * time.Millisecond // after the first of them, and twice as long after each further one
	fatePause  = 50 * time.Millisecond // between two questions what became of a write
)

// Write runs change in one transaction. Who leaves before it begins takes it back; one that is under way is waited for
// a little longer, because its caller must know: a claim nobody knows of would be lost. When the answer to COMMIT is
// lost, the server is asked by the name of the transaction whether it was committed, and only one that was not is
// tried again.
func (s *store) Write(ctx context.Context, change relational.Change) error {
	if !s.in() {
		return errClosed
	}
	defer s.working.Done()
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return relational.Left{Cause: context.Cause(ctx)}
		}
		news, err := s.try(ctx, change)
		if err == nil {
			s.notices.Publish(news)
			s.crier.tell(news)
			return nil
		}
		if try == writeTries || !undone(err) {
			return err
		}
		pause := time.NewTimer(rand.N(tryPause << try))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

func (s *store) try(ctx context.Context, change relational.Change) (relational.News, error) {
	under, done := outlast(ctx, writeTime)
	defer done()
	conn, err := s.enter(ctx)
	if err != nil {
		return relational.News{}, err
	}
	t := s.begin(conn, s.within(under), beginWrite)
	defer t.end(under)
	t.name()
	news, err := change(t)
	if err != nil {
		return relational.News{}, err
	}
	return news, t.commit(under)
}

// Read runs look in one snapshot, which the first question takes. Reads leave connections for writes: however many
// lists are asked for, leases are renewed.
func (s *store) Read(ctx context.Context, look func(relational.Session) error) error {
	if !s.in() {
		return errClosed
	}
	defer s.working.Done()
	leave, err := s.place(ctx)
	if err != nil {
		return err
	}
	defer leave()
	under, done := outlast(ctx, readTime)
	defer done()
	conn, err := s.enter(ctx)
	if err != nil {
		return err
	}
	t := s.begin(conn, s.within(under), beginRead)
	defer t.end(under)
	return look(t)
}

// place waits for the turn of a read, as long as it would wait for a connection.
func (s *store) place(ctx context.Context) (leave func(), err error) {
	late := time.NewTimer(writeTime)
	defer late.Stop()
	select {
	case s.reads <- struct{}{}:
		return func() { <-s.reads }, nil
	case <-ctx.Done():
		return nil, relational.Left{Cause: context.Cause(ctx)}
	case <-late.C:
		return nil, context.DeadlineExceeded
	}
}

// enter takes a connection for a caller who may leave before there is one.
func (s *store) enter(ctx context.Context) (*pgxpool.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	conn, err := s.acquire(waiting)
	if err != nil && ctx.Err() != nil {
		err = relational.Left{Cause: context.Cause(ctx)}
	}
	return conn, err
}

// outlast returns a context for what is under way: it ends with its time, and a grace after ctx. An interrupted
// statement would cost its connection.
func outlast(ctx context.Context, most time.Duration) (context.Context, func()) {
	under, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	left := context.AfterFunc(ctx, func() {
		grace := time.AfterFunc(graceTime, cancel)
		context.AfterFunc(under, func() { grace.Stop() })
	})
	return under, func() {
		left()
		cancel()
	}
}

// commit sends what waits together with the COMMIT, which the server skips when anything before it fails.
func (t *session) commit(ctx context.Context) error {
	if !t.begun && t.broken == nil { // a transaction has a name before its end is sent
		_ = t.learn()
	}
	if t.broken != nil {
		return t.broken
	}
	t.waits.Queue(`COMMIT`)
	answers := t.within.send(t.conn, t.waits)
	done, err := last(answers, t.waits.Len())
	err = t.gone(err)
	switch {
	case err == nil && done.String() != "COMMIT":
		return errRolledBack
	case err == nil || !unreachable(err):
		return err
	}
	t.conn.Release() // to ask takes another one, and all may be out for the same reason
	t.conn = nil
	return t.store.fate(ctx, t.called, err)
}

// last reads n answers and returns the last one.
func last(answers pgx.BatchResults, n int) (done pgconn.CommandTag, err error) {
	for range n {
		if done, err = answers.Exec(); err != nil {
			break
		}
	}
	if closed := answers.Close(); err == nil {
		err = closed
	}
	return done, err
}
