package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/sdk"
)

// echo is a native plugin with one tool that answers at once: the floor under every measurement.
type echo struct{ scoped bool }

const echoAnswer = `{"results":[{"title":"Alpha","citation":{"source_item_id":"src_a"}}],"citations":[{"source_item_id":"src_a"}]}`

func (echo) Name() string { return "echo" }

func (e echo) Tools(context.Context) []sdk.NativeTool {
	schema := json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)
	return []sdk.NativeTool{{Name: "echo", RawName: "echo", InputSchema: schema, Scope: e.scoped}}
}

func (echo) Invoke(context.Context, string, sdk.Call) (sdk.Result, error) {
	return sdk.Result{Content: echoAnswer}, nil
}

func (echo) Status() []sdk.SourceStatus { return nil }

func (echo) Close() error { return nil }

// newServer assembles the house over a folder of its own, with the built-in plugins compiled and the demo model.
func newServer(tb testing.TB, native sdk.Native) *Server {
	tb.Helper()
	loaded, err := Load(LoadOptions{Getenv: func(string) string { return "" }})
	if err != nil {
		tb.Fatal(err)
	}
	folder := tb.TempDir()
	cfg := loaded.Config
	cfg.Store.Path = filepath.Join(folder, "db", "f.db")
	cfg.Workspace.Root, cfg.Plugins.CacheDir = filepath.Join(folder, "ws"), filepath.Join(folder, "cache")
	modules, err := builtin.Modules()
	if err != nil {
		tb.Fatal(err)
	}
	options := Options{Config: cfg, Version: "test", Log: slog.New(slog.DiscardHandler)}
	for _, m := range modules {
		if m.Name != "files" && m.Name != "investigation" { // no file is touched here
			options.Modules = append(options.Modules, Module{Name: m.Name, Bytes: m.Bytes})
		}
	}
	if native != nil {
		options.Natives = []sdk.Native{native}
	}
	s, err := New(context.Background(), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	s.compilePlugins(context.Background())
	return s
}

// BenchmarkToolCall compares one tool call through the whole gate with the same call in a loop that has no gate. Both
// commit the call's two events to the disk; the gate commits its two audit records besides.
func BenchmarkToolCall(b *testing.B) {
	scope := &sdk.Scope{Mode: sdk.Hard, SourceItemIDs: []string{"src_a"}}
	for _, c := range []struct {
		name  string
		gated bool
		scope *sdk.Scope
	}{{"bare-loop", false, nil}, {"gate", true, nil}, {"gate+scope-plugin", true, scope}} {
		b.Run(c.name, func(b *testing.B) {
			tool := echo{scoped: c.scope != nil}
			s := newServer(b, tool)
			r := benchRun(b, s)
			call := run.Call{
				Fence: r.Fence(), SessionID: "s", Identity: r.Request.Identity, ID: "call_1", Tool: "echo",
				Args: json.RawMessage(`{"query":"how do backups work?"}`), ToolPolicy: run.ToolPolicy{Scope: c.scope},
			}
			for b.Loop() {
				commit(b, s, r, run.Event{Kind: run.ToolCalled, ToolName: "echo", ToolArgs: call.Args})
				content := echoAnswer
				if c.gated {
					outcome := s.gate.Do(b.Context(), s.gate.Check(b.Context(), call), nil)
					if content = outcome.Content; outcome.Denied != "" {
						b.Fatal(content)
					}
				} else if _, err := tool.Invoke(b.Context(), "echo", sdk.Call{Tool: "echo", Args: call.Args}); err != nil {
					b.Fatal(err)
				}
				commit(b, s, r, run.Event{Kind: run.ToolResult, ToolName: "echo", Content: content})
			}
		})
	}
}

func commit(b *testing.B, s *Server, r run.Run, event run.Event) {
	b.Helper()
	if _, err := s.ledger.Append(b.Context(), r.Fence(), ledger.Batch{Events: []run.Event{event}}); err != nil {
		b.Fatal(err)
	}
}

// benchRun stores a running run.
func benchRun(b *testing.B, s *Server) run.Run {
	b.Helper()
	now := time.Now().UTC()
	r := run.Run{
		Ref: run.Ref{Tenant: "pska", ID: "run-bench"}, SessionID: "s", Kind: run.Chat, Status: run.Running,
		Owner: "bench", Epoch: 1, CreatedAt: now, StartedAt: &now,
		Request: run.Request{ID: "run-bench", Identity: sdk.Identity{UserKey: "pska:user", TenantKey: "pska"}},
	}
	r, err := s.ledger.Create(b.Context(), r, ledger.Door{Lease: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkFirstByte compares the time from a question to the first byte of its stream, the first event being on the
// disk by then, with a handler that stores nothing.
func BenchmarkFirstByte(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		firstBytes(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 0\nevent: session_start\ndata: {}\n\nevent: done\ndata: [DONE]\n\n")
		}))
	})
	b.Run("fastreact", func(b *testing.B) { firstBytes(b, newServer(b, nil).Handler()) })
}

func firstBytes(b *testing.B, handler http.Handler) {
	server := httptest.NewServer(handler)
	defer server.Close()
	body := `{"messages":[{"role":"user","content":"hello"}],"stream":true,"user_key":"pska:user"}`
	var first time.Duration
	for b.Loop() {
		asked := time.Now()
		response, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		reader := bufio.NewReader(response.Body)
		if _, err := reader.ReadByte(); err != nil {
			b.Fatal(err)
		}
		first += time.Since(asked)
		_, _ = io.Copy(io.Discard, reader)
		_ = response.Body.Close()
	}
	b.ReportMetric(float64(first.Microseconds())/float64(b.N), "µs/first-byte")
}
