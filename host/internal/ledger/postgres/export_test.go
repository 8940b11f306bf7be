package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// AskingAfter returns cfg with a listener that bears a silence only so long.
func AskingAfter(silence time.Duration, cfg Config) Config {
	cfg.silence = silence
	return cfg
}

// Pool makes connections for one ledger after the other. Making them takes longer than most tests.
func Pool(t testing.TB, cfg Config) *pgxpool.Pool {
	settings, err := cfg.complete().parse()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// OpenOn opens a ledger that lives on a test's connections.
func OpenOn(t testing.TB, pool *pgxpool.Pool, cfg Config) *Ledger {
	cfg = cfg.complete()
	settings, err := cfg.parse()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(context.Background(), settings.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	return (&store{pool: pool, lent: true}).open(context.Background(), cfg, conn, settings.ConnConfig)
}

// Fate asks what became of a transaction by the number and the time that the server gave it, and whether it is to be
// done again.
func Fate(t testing.TB, cfg Config, number string, at int64) (again bool, err error) {
	s := &store{pool: Pool(t, cfg)}
	defer s.pool.Close()
	err = s.fate(t.Context(), calling{number, at}, errLost)
	return undone(err), err
}
