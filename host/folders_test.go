package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/sdk"
)

// shelves are two configured folders beside the workspaces of callers.
func shelves(t *testing.T) folders {
	t.Helper()
	return folders{
		root: filepath.Join(t.TempDir(), "workspaces"), quotas: capability.NewQuotas(capability.Quota{}),
		configured: map[string]string{"harbour": "/srv/harbour", "observatory": "/srv/observatory", "unset": ""},
	}
}

func TestAReservedToolOnlyReadsTheFolderThatItsCallNames(t *testing.T) {
	f := shelves(t)
	call := sdk.Call{RunID: "r", CallID: "c", Workspace: "observatory", Identity: sdk.Identity{TenantKey: "t", UserKey: "agent-tools:harbour"}}
	got, release, err := f.open(&resident{profile: AgentTools}, call)
	if err != nil {
		t.Fatal(err)
	}
	release()
	want := wasm.CallContext{Tenant: "t", RunID: "r", CallID: "c", Workspace: "/srv/observatory", ReadOnly: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := os.Stat(f.root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a workspace was made for the caller (%v)", err)
	}
}

func TestAReservedToolIsRefusedWithoutAConfiguredFolder(t *testing.T) {
	f := shelves(t)
	for _, id := range []string{"", "unset", "lighthouse", "Harbour", "../harbour", "/srv/harbour"} {
		call := sdk.Call{Workspace: id, Identity: sdk.Identity{UserKey: "agent-tools:harbour", UserID: "harbour"}}
		if got, _, err := f.open(&resident{profile: AgentTools}, call); err == nil {
			t.Errorf("%q opened %s", id, got.Workspace)
		}
	}
}

func TestAToolForAllIsRefusedAConfiguredFolder(t *testing.T) {
	for _, id := range []string{"harbour", "lighthouse"} {
		if got, _, err := shelves(t).open(&resident{}, sdk.Call{Workspace: id}); err == nil {
			t.Errorf("%q opened %s", id, got.Workspace)
		}
	}
}

func TestAToolForAllWorksOnTheWorkspaceOfItsCaller(t *testing.T) {
	f := shelves(t)
	got, release, err := f.open(&resident{}, sdk.Call{Identity: sdk.Identity{TenantKey: "t", UserKey: "u"}})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got.Workspace != filepath.Join(f.root, "t", "u") || got.Account == nil || got.ReadOnly {
		t.Errorf("%+v", got)
	}
}

// readers are the tools of the plugin of investigations, which is not compiled, under a profile.
func readers(t *testing.T, profile string) *wasmTools {
	t.Helper()
	modules, err := builtin.Modules()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if m.Name != "investigation" {
			continue
		}
		grants := sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadOnly}}}
		residents, err := readPlugins(PluginsConfig{}, []Module{{Name: m.Name, Bytes: m.Bytes, Grants: grants, Profile: profile}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tools, err := newWasmTools(residents, shelves(t))
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}
	t.Fatal("there is no plugin of investigations")
	return nil
}

func TestReservedToolsHaveTheNamesOfTheirProtocolToo(t *testing.T) {
	got := map[string]string{}
	for _, tool := range readers(t, AgentTools).Tools(t.Context()) {
		if got[tool.Name] = tool.RawName; tool.Profile != AgentTools {
			t.Errorf("%s is reserved for %q", tool.Name, tool.Profile)
		}
	}
	want := map[string]string{
		"investigation_search": "investigation.search", "graph_get_node": "graph.get_node", "graph_get_neighbors": "graph.get_neighbors",
		"evidence_get_summary": "evidence.get_summary", "evidence_read_excerpt": "evidence.read_excerpt",
		"provenance_trace": "provenance.trace", "jobs_get": "jobs.get",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestToolsForAllHaveOneName(t *testing.T) {
	for _, tool := range readers(t, "").Tools(t.Context()) {
		if tool.Name != tool.RawName || tool.Profile != "" {
			t.Errorf("%s: %q, profile %q", tool.Name, tool.RawName, tool.Profile)
		}
	}
}

func TestACallWithoutAConfiguredFolderReachesNoReader(t *testing.T) {
	tools := readers(t, AgentTools)
	call := sdk.Call{Tool: "graph.get_node", Args: []byte(`{}`), Identity: sdk.Identity{UserKey: "agent-tools:harbour", UserID: "harbour"}}
	if result, err := tools.Invoke(t.Context(), run.Tool{Name: "graph_get_node"}, call); err == nil {
		t.Errorf("%+v", result)
	}
	if calls, _ := tools.plugins["graph_get_node"].counts(); calls != 0 {
		t.Errorf("the plugin was called %d times", calls)
	}
}
