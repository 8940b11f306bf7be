package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/ledgertest"
	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/testdata/peers"
)

// house is the server of this package's tests.
type house struct {
	server *peers.Postgres
	err    error

	mu    sync.Mutex
	ready bool    // the template is made
	empty []*home // that no test uses
}

// home is a database with the present schema and nothing in it. Making one takes longer than most tests.
type home struct {
	name, dsn string
	keys      *pgxpool.Pool
}

const template = "template_of_tests"

// begin starts the server when the first test needs it.
var begin = sync.OnceValue(func() *house {
	server, err := peers.StartPostgres(peers.PostgresConfig{})
	return &house{server: server, err: err}
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if h := begin(); h.server != nil {
		if err := h.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

func need(t testing.TB) *house {
	t.Helper()
	h := begin()
	if errors.Is(h.err, peers.ErrMissing) {
		peers.Missing(t, "PostgreSQL")
	}
	if h.err != nil {
		t.Fatal(h.err)
	}
	return h
}

// database returns a database for one test, with the present schema and nothing in it.
func (h *house) database(t testing.TB) *home {
	t.Helper()
	free := h.free()
	if free == nil {
		free = h.build(t)
	}
	t.Cleanup(func() {
		if _, err := free.keys.Exec(context.Background(), sweep, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("empty the database: %v", err)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.empty = append(h.empty, free)
	})
	return free
}

func (h *house) free() *home {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.empty) == 0 {
		return nil
	}
	free := h.empty[len(h.empty)-1]
	h.empty = h.empty[:len(h.empty)-1]
	return free
}

// sweep leaves the schema alone, and with it the row of Ping.
const sweep = `
	BEGIN; SET LOCAL session_replication_role = replica;
	DELETE FROM runs; DELETE FROM run_bodies; DELETE FROM events; DELETE FROM approvals; DELETE FROM audits;
	DELETE FROM outbox; DELETE FROM idempotency; DELETE FROM answers; DELETE FROM kv; DELETE FROM kv_used;
	DELETE FROM feedback; DELETE FROM research; DELETE FROM nodes; DELETE FROM duties;
	COMMIT`

func (h *house) build(t testing.TB) *home {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ready {
		if _, err := h.server.SQL("postgres", "CREATE DATABASE "+template); err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.Migrate(t.Context(), postgres.Config{DSN: h.server.SocketDSN(template)}); err != nil {
			t.Fatal(err)
		}
		h.ready = true
	}
	name, err := h.server.Database(template)
	if err != nil {
		t.Fatal(err)
	}
	dsn := h.server.SocketDSN(name)
	return &home{name, dsn, postgres.Pool(t, postgres.Config{DSN: dsn, MaxConnections: 8})}
}

func TestPostgreSQLKeepsTheContract(t *testing.T) {
	need(t)
	ledgertest.Run(t, func(t *testing.T) ledgertest.Opener {
		home := need(t).database(t)
		return func(t *testing.T, clock func() time.Time) ledger.Ledger {
			return postgres.OpenOn(t, home.keys, postgres.Config{DSN: home.dsn, Clock: clock, Outbox: true})
		}
	})
}

func open(t testing.TB, cfg postgres.Config) *postgres.Ledger {
	t.Helper()
	cfg.AutoMigrate = true
	l, err := postgres.Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
