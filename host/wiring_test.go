package host

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/plugins/evidence"
	"github.com/fastreact/fastreact/sdk"
)

// wired builds a server of controlled parts: nothing listens, no model and no source is asked.
func wired(t *testing.T) *Server {
	t.Helper()
	folder := t.TempDir()
	config := DefaultConfig()
	config.Store.Path = filepath.Join(folder, "f.db")
	config.Workspace.Root = filepath.Join(folder, "workspaces")
	config.Plugins.CacheDir = filepath.Join(folder, "cache")
	sources, err := evidence.New(evidence.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Options{Config: config, Natives: []sdk.Native{sources}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestApplicationContextWiring holds the seed's "exactly one ChatApplicationUseCase graph is created without missing or
// ambiguous beans": every profile shares the executors, and every tool that a profile names is offered exactly once.
func TestApplicationContextWiring(t *testing.T) {
	s := wired(t)
	if s.ledger == nil || s.gate == nil || s.harness == nil || s.runs == nil || s.Handler() == nil {
		t.Fatal("a part is missing")
	}
	offered := map[string]int{}
	for _, tool := range s.gate.Tools(t.Context()) {
		offered[tool.Name]++
	}
	needed := map[string]int{}
	profiles := s.harness.Profiles()
	for _, profile := range profiles {
		if profile.Models == nil || profile.ToolSlots == nil || profile.Models != profiles["chat"].Models || profile.ToolSlots != profiles["chat"].ToolSlots {
			t.Errorf("profile %s has executors of its own", profile.Name)
		}
		if (profile.Router == nil) == (profile.Exit == nil) {
			t.Errorf("profile %s is neither routed nor answered, or both", profile.Name)
		}
		for _, tool := range profile.Tools {
			needed[tool] = offered[tool]
		}
	}
	if diff := cmp.Diff(map[string]int{"query_metrics": 1, "query_logs": 1, "query_mysql": 1}, needed); diff != "" || len(profiles) != 3 {
		t.Errorf("%d profiles; how often each tool that one needs is offered (-want +got):\n%s", len(profiles), diff)
	}
}

// TestTheAgentToolsAreOneGraph: every part is there once, and the gate asks the desk at which people decide.
func TestTheAgentToolsAreOneGraph(t *testing.T) {
	one, other := withTools(t, nil), withTools(t, nil)
	for _, s := range []*Server{one, other} {
		tools := s.tools
		if tools.desk == nil || tools.gateway == nil || tools.runtime == nil || tools.face == nil {
			t.Fatalf("a part is missing: %+v", tools)
		}
	}
	if one.tools.desk == other.tools.desk || one.tools.gateway == other.tools.gateway || one.tools.face == other.tools.face {
		t.Error("two servers share a part")
	}
	sources, err := one.sources(one.serving.Load())
	if err != nil || sources[0].(repeatable).Source != gate.Source(one.tools.desk) {
		t.Errorf("the gate asks another desk than the page: %T, %v", sources[0], err)
	}
}

// TestTwoServersShareNothing: a graph belongs to its server, and no part of it is global.
func TestTwoServersShareNothing(t *testing.T) {
	one, other := wired(t), wired(t)
	if one.harness == other.harness || one.harness.Worker() == other.harness.Worker() || one.gate == other.gate {
		t.Error("two servers share a part")
	}
}
