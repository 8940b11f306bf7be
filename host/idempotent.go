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
// of the house that only read. What an MCP server says about its own tools is not asked.
type repeatable struct {
	gate.Source
	patterns []string // of registered names
}

// harmless are tools of the house that change nothing, by plugin.
func harmless() map[string][]string {
	return map[string][]string{
		"handle":   {"read_result"},
		"files":    {"read_file", "list_files", "glob_files", "grep_files"},
		"evidence": {"query_logs", "query_metrics", "query_mysql"},
	}
}

// Tools lists the source's tools. Its own list is left as it is.
func (r repeatable) Tools(ctx context.Context) []run.Tool {
	tools := slices.Clone(r.Source.Tools(ctx))
	known := harmless()
	for i, tool := range tools {
		ours := tool.Source != run.FromMCP && slices.Contains(known[tool.Plugin], tool.Name)
		tools[i].Idempotent = ours || slices.ContainsFunc(r.patterns, func(pattern string) bool {
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
