package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestWithoutAnOutboxNothingIsTold(t *testing.T) {
	l, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(t.TempDir(), "l.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := run.Run{Ref: run.Ref{ID: "r"}, Kind: run.Background, Status: run.Running, Owner: "node", Epoch: 1, Attempts: 1}
	if _, err := l.Create(t.Context(), r, ledger.Door{Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	batch := ledger.Batch{Approvals: []run.Approval{{ID: "approval-1", Timeout: time.Minute}}}
	if _, err := l.Append(t.Context(), r.Fence(), batch); err != nil {
		t.Fatal(err)
	}
	if due, err := l.Due(t.Context(), time.Now().Add(time.Hour), 10); err != nil || len(due) != 0 {
		t.Errorf("due %v, %v", due, err)
	}
}
