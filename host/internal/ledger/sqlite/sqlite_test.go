package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/ledgertest"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
)

func TestSQLiteKeepsTheContract(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Opener {
		path := filepath.Join(t.TempDir(), "data", "ledger.db")
		return func(t *testing.T, clock func() time.Time) ledger.Ledger { return open(t, path, clock) }
	})
}

func open(t *testing.T, path string, clock func() time.Time) *sqlite.Ledger {
	t.Helper()
	l, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, Clock: clock, Outbox: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
