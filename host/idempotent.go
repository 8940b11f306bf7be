package host

import (
	"context"
	"path"
	"slices"
	"strconv"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
)

// repeatable marks the tools of a source that may be run twice without harm: those that the operator names, and those
// of the house that only read. What an MCP server, or a plugin that is not of the house, says about its own tools is not
// asked.
type repeatable struct {
	gate.Source
	patterns []string // of registered names
}

// harmless reports whether a tool of the house changes nothing at all, wherever it is sent. plugin is the name under which
// a plugin comes with the program. A tool that is not known here may change something.
func harmless(plugin, tool string) bool {
	readers := map[string][]string{
		"handle":   {"read_result"},
		"files":    {"read_file", "list_files", "glob_files", "grep_files"},
		"evidence": {"query_logs", "query_metrics", "query_mysql"},
		"investigation": {
			"investigation_search", "graph_get_node", "graph_get_neighbors", "evidence_get_summary", "evidence_read_excerpt",
			"provenance_trace", "jobs_get",
		},
	}
	return slices.Contains(readers[plugin], tool)
}

// Tools lists the source's tools. Its own list is left as it is.
func (r repeatable) Tools(ctx context.Context) []run.Tool {
	tools := slices.Clone(r.Source.Tools(ctx))
	for i, tool := range tools {
		ours := tool.Source == run.FromNative && harmless(tool.Plugin, tool.Name)
		tools[i].Idempotent = tool.Idempotent || ours || slices.ContainsFunc(r.patterns, func(pattern string) bool {
			matched, err := path.Match(pattern, tool.Name)
			return err == nil && matched
		})
	}
	return tools
}

func (c Config) validateIdempotent(report reporter) {
	for i, pattern := range c.Tools.Idempotent {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			report("tools.idempotent["+strconv.Itoa(i)+"]", "is no pattern of tool names", `write a registered name, such as pska_pska_search, or one with *, ? and [a-z]`)
		}
	}
}
