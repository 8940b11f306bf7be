package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestCallsWaitForAConnectionAndAreServed(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	l := open(t, postgres.Config{DSN: dsn, MaxConnections: 3})
	defer func() { _ = l.Close() }()
	r := driven(t, l, "r")
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			if _, err := l.Append(t.Context(), r.Fence(), thought("x")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := len(texts(t, l, r.Ref)); got != 32 {
		t.Errorf("%d events", got)
	}
	if n := sql(t, "postgres", "SELECT count(*) <= 3 FROM pg_stat_activity WHERE datname = '"+name+"' AND application_name = 'fastreact'"); n != "t" {
		t.Error("there are more than three connections")
	}
}

// TestReadsLeaveAConnectionForWrites has reads take all they can get, and wait there.
func TestReadsLeaveAConnectionForWrites(t *testing.T) {
	t.Parallel()
	home := need(t).database(t)
	l := open(t, postgres.Config{DSN: home.dsn, MaxConnections: 3})
	defer func() { _ = l.Close() }()
	r := driven(t, l, "r")
	holder := hold(t, home.dsn, r)
	if _, err := holder.Exec(t.Context(), "ROLLBACK; BEGIN; LOCK TABLE feedback"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if _, _, err := l.FeedbackOn(context.Background(), r.Ref); err != nil {
				t.Error(err)
			}
		})
	}
	await(t, "a read that waits", func() bool {
		return sql(t, "postgres", "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = '"+home.name+"' AND wait_event_type = 'Lock'") == "t"
	})
	soon, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	if _, err := l.Append(soon, r.Fence(), thought("x")); err != nil {
		t.Errorf("a write waits for reads: %v", err)
	}
	if _, err := holder.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	group.Wait()
}

// hold keeps the row of a run in a transaction that nobody ends, on a connection with a limit of its own.
func hold(t *testing.T, dsn string, r run.Run) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT 1 FROM runs WHERE id = $1 FOR UPDATE", r.ID); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestProcessThatStandsStillHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	dsn := need(t).database(t).dsn
	l := open(t, postgres.Config{DSN: dsn})
	defer func() { _ = l.Close() }()
	r := driven(t, l, "r")
	hold(t, dsn+"&idle_in_transaction_session_timeout=200", r)
	if _, err := l.Append(t.Context(), r.Fence(), thought("x")); err != nil {
		t.Error(err)
	}
}

func TestWhoeverWaitsTooLongForARowIsTold(t *testing.T) {
	t.Parallel()
	dsn := need(t).database(t).dsn
	l := open(t, postgres.Config{DSN: dsn + "&lock_timeout=100"})
	defer func() { _ = l.Close() }()
	r := driven(t, l, "r")
	holder := hold(t, dsn, r)
	_, err := l.Append(t.Context(), r.Fence(), thought("x"))
	public(t, err)
	if _, err := holder.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if got := len(texts(t, l, r.Ref)); got != 0 {
		t.Errorf("%d events were stored", got)
	}
}
