package fastreact

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Readers of the real ledger, one live and one late, see the same bytes.
func TestTheLedgerIsReadTheSameLiveAndLate(t *testing.T) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{
		Path: filepath.Join(t.TempDir(), "ledger.db"), Clock: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r := run.Run{
		Ref: run.Ref{Tenant: "pska", ID: "run-1"}, SessionID: "s-1", Kind: run.Chat, Status: run.Running,
		CreatedAt: dawn, StartedAt: new(dawn), Owner: "me", Epoch: 1,
		Request: run.Request{ID: "run-1", SessionID: "s-1", Kind: run.Chat},
	}
	if _, err := store.Create(ctx, r, ledger.Door{Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	server := open(t, newBook(nil), func(cfg *Config, _ *web.Config) { cfg.Records = store })
	live := make(chan string)
	go func() {
		_, body := call(t, server, http.MethodGet, "/v1/runs/run-1/stream", "")
		live <- body
	}()
	for _, batch := range []ledger.Batch{
		{Events: []run.Event{{Kind: run.SessionStart, Content: "Question"}, {Kind: run.Think, Content: "hm"}}},
		{Events: []run.Event{{Kind: run.ToolCalled, ToolName: "t", ToolArgs: []byte(`{"b":1.0,"a":2}`), ToolCallID: "c"}}},
		{
			Events: []run.Event{{Kind: run.SessionEnd, Content: "Answer"}},
			Finish: &ledger.Finish{Status: run.Completed, Outcome: run.Outcome{Answer: "Answer"}},
		},
	} {
		if _, err := store.Append(ctx, r.Fence(), batch); err != nil {
			t.Fatal(err)
		}
	}
	_, late := call(t, server, http.MethodGet, "/v1/runs/run-1/stream", "")
	if diff := cmp.Diff(<-live, late); diff != "" {
		t.Error(diff)
	}
	if got := get(t, server, "/v1/runs/run-1"); got["status"] != "completed" || got["event_count"] != 4.0 {
		t.Errorf("%v", got)
	}
}
