package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

type toolList []run.Tool

func (l toolList) Tools(context.Context) []run.Tool { return l }

func (toolList) Invoke(context.Context, run.Tool, sdk.Call) (sdk.Result, error) {
	return sdk.Result{}, nil
}

func TestToolsMayBeRepeatedWhenTheOperatorNamesThemOrTheHouseOnlyReads(t *testing.T) {
	list := toolList{
		{Name: "pska_pska_search", Server: "pska", Source: run.FromMCP, Plugin: "mcpbridge"},
		{Name: "docs_find", Server: "docs", Source: run.FromMCP, Plugin: "mcpbridge"},
		{Name: "read_file", Server: "", Source: run.FromMCP, Plugin: "files"},        // a server in borrowed clothes
		{Name: "read_file", Source: run.FromWasm, Plugin: "files", Idempotent: true}, // its source says so
		{Name: "write_file", Source: run.FromWasm, Plugin: "files"},
		{Name: "query_logs", Source: run.FromNative, Plugin: "evidence"},
		{Name: "read_file", Source: run.FromWasm, Plugin: "other"},
	}
	var got []bool
	for _, tool := range (repeatable{list, []string{"docs_*"}}).Tools(t.Context()) {
		got = append(got, tool.Idempotent)
	}
	if diff := cmp.Diff([]bool{false, true, false, true, false, true, false}, got); diff != "" {
		t.Error(diff)
	}
	if list[1].Idempotent {
		t.Error("the source's own list was changed")
	}
}

// repeatableOf are the tools of a plugin in plugins that may be repeated. builtin is the name under which it comes with the
// program; empty: somebody loads it.
func repeatableOf(t *testing.T, plugin, builtin string) (names []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "plugins", plugin, "module", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest sdk.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	source, err := newWasmTools([]*resident{{inspection: wasm.Inspection{Manifest: manifest}, builtin: builtin}}, folders{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range (repeatable{Source: source}).Tools(t.Context()) {
		if tool.Idempotent {
			names = append(names, tool.Name)
		}
	}
	return names
}

func TestToolsOfTheHouseThatOnlyReadMayBeRepeated(t *testing.T) {
	for plugin, want := range map[string][]string{
		"files": {"read_file", "list_files", "glob_files", "grep_files"},
		"investigation": {
			"investigation_search", "graph_get_node", "graph_get_neighbors", "evidence_get_summary", "evidence_read_excerpt",
			"provenance_trace", "jobs_get",
		},
		"shell": nil,
	} {
		if diff := cmp.Diff(want, repeatableOf(t, plugin, plugin)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", plugin, diff)
		}
		if got := repeatableOf(t, plugin, ""); len(got) > 0 {
			t.Errorf("of somebody's own plugin named %s: %v", plugin, got)
		}
	}
}

func TestAnIdempotentPatternThatIsNoneIsRefused(t *testing.T) {
	var paths []string
	Config{Tools: ToolsConfig{Idempotent: []string{"docs_*", "[", ""}}}.validateIdempotent(func(path, _, _ string) { paths = append(paths, path) })
	if diff := cmp.Diff([]string{"tools.idempotent[1]", "tools.idempotent[2]"}, paths); diff != "" {
		t.Error(diff)
	}
}
