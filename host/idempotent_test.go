package host

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
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
		{Name: "read_file", Server: "", Source: run.FromMCP, Plugin: "files"}, // a server in borrowed clothes
		{Name: "read_file", Source: run.FromWasm, Plugin: "files"},
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

func TestAnIdempotentPatternThatIsNoneIsRefused(t *testing.T) {
	var paths []string
	Config{Tools: ToolsConfig{Idempotent: []string{"docs_*", "[", ""}}}.validateIdempotent(func(path, _, _ string) { paths = append(paths, path) })
	if diff := cmp.Diff([]string{"tools.idempotent[1]", "tools.idempotent[2]"}, paths); diff != "" {
		t.Error(diff)
	}
}
