package contract

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// asking holds arguments that no reader takes.
func asking() []fact {
	long := strings.Repeat("é", 512)
	facts := []fact{
		{name: "a query of 512 characters is taken", tool: "investigation_search", args: `{"query":"` + long + `"}`, want: `{"matches":[],"object_refs":[],"revision":4}`},
		{name: "a query of 513 characters is refused", tool: "investigation_search", args: `{"query":"` + long + `e"}`},
		{name: "an empty query is refused", tool: "investigation_search", args: `{"query":""}`},
		{name: "a query of spaces is refused", tool: "investigation_search", args: `{"query":" \n\u00a0"}`},
		{name: "a NUL in a query is refused", tool: "investigation_search", args: `{"query":"a\u0000"}`},
		{name: "a query is required", tool: "investigation_search", args: `{}`},
		{name: "an unknown argument is refused", tool: "investigation_search", args: `{"query":"a","limit":9}`},
		{name: "an argument in another case is unknown", tool: "investigation_search", args: `{"Query":"a"}`},
		{name: "a doubled argument is refused", tool: "investigation_search", args: `{"query":"a","query":"b"}`},
		{name: "a number for a query is refused", tool: "investigation_search", args: `{"query":7}`},
		{name: "no query is refused", tool: "investigation_search", args: `{"query":null}`},
		{name: "arguments that are no object are refused", tool: "investigation_search", args: `["a"]`},
		{name: "an id without a UUID is refused", tool: "graph_get_node", args: `{"object_id":"entity:lamp"}`},
		{name: "an id with two colons is refused", tool: "graph_get_node", args: `{"object_id":"a:` + lamp + `"}`},
		{name: "an id with an empty kind is refused", tool: "graph_get_node", args: `{"object_id":":0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11"}`},
		{name: "a kind in capital letters is refused", tool: "graph_get_node", args: `{"object_id":"Entity:0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11"}`},
		{name: "a kind of 33 letters is refused", tool: "graph_get_node", args: `{"object_id":"` + strings.Repeat("k", 33) + `:0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11"}`},
		{name: "a UUID without hyphens is refused", tool: "graph_get_node", args: `{"object_id":"0b8e6a526f0f5d0c9d6e0f6f0d6b1c11"}`},
		{name: "a path for an id is refused", tool: "evidence_read_excerpt", args: `{"object_id":"../../etc/passwd"}`},
		{name: "an empty job id is refused", tool: "jobs_get", args: `{"job_id":""}`},
		{name: "a job id without a UUID is refused", tool: "jobs_get", args: `{"job_id":"job-3"}`},
	}
	for i := range facts {
		facts[i].core = lighthouse()
		if facts[i].want == "" {
			facts[i].code = "input_invalid"
		}
	}
	return facts
}

// doubting holds snapshots that are refused whole, whatever is asked.
func doubting() []fact {
	good := `{"id":"` + lamp + `","label":"a"}`
	other := `{"id":"` + tower + `"}`
	broken := map[string]string{
		"a text that is no JSON":                       `{"nodes":[` + good + `]`,
		"an empty text":                                ` `,
		"a list":                                       `[]`,
		"something behind the snapshot":                `{"nodes":[` + good + `]} {}`,
		"a byte order mark":                            "\ufeff" + `{"nodes":[` + good + `]}`,
		"a text that is not UTF-8":                     `{"nodes":[` + good + `],"x":"caf` + "\xe9" + `"}`,
		"a text in UTF-16":                             "\xff\xfe{\x00}\x00",
		"another version":                              `{"contract":"labfy.web_graph.snapshot.v2","nodes":[` + good + `]}`,
		"a contract that is no text":                   `{"contract":3,"nodes":[` + good + `]}`,
		"a snapshot without nodes":                     `{"edges":[]}`,
		"nodes that are no list":                       `{"nodes":{"0":` + good + `}}`,
		"nodes that are null":                          `{"nodes":null}`,
		"edges that are no list":                       `{"nodes":[` + good + `],"edges":{}}`,
		"a revision below zero":                        `{"revision":-1,"nodes":[` + good + `]}`,
		"a revision that is not whole":                 `{"revision":1.5,"nodes":[` + good + `]}`,
		"a revision that numbers cannot hold":          `{"revision":9007199254740992,"nodes":[` + good + `]}`,
		"a revision that is a text":                    `{"revision":"4","nodes":[` + good + `]}`,
		"a node that is no object":                     `{"nodes":[` + good + `,"x"]}`,
		"a node that is null":                          `{"nodes":[` + good + `,null]}`,
		"a node without an id":                         `{"nodes":[` + good + `,{"label":"b"}]}`,
		"a node whose id is null":                      `{"nodes":[` + good + `,{"id":null}]}`,
		"a node whose id has no UUID":                  `{"nodes":[` + good + `,{"id":"entity:b"}]}`,
		"a node whose label is an object":              `{"nodes":[` + good + `,{"id":"` + tower + `","label":{}}]}`,
		"a node whose state is a number":               `{"nodes":[` + good + `,{"id":"` + tower + `","state":1}]}`,
		"two nodes with one id":                        `{"nodes":[` + good + `,` + other + `,` + good + `]}`,
		"two nodes whose ids differ in case only":      `{"nodes":[` + good + `,{"id":"entity:` + strings.ToUpper(lamp[len("entity:"):]) + `"}]}`,
		"a snapshot that names nodes twice":            `{"nodes":[` + good + `],"nodes":[` + other + `]}`,
		"a node that names its label twice":            `{"nodes":[{"id":"` + lamp + `","label":"a","label":"b"}]}`,
		"a name that is doubled by an escape":          `{"nodes":[{"id":"` + lamp + `","label":"a","l\u0061bel":"b"}]}`,
		"details that name something twice":            `{"nodes":[{"id":"` + lamp + `","label":"a","details":{"d":[{"k":1,"k":2}]}}]}`,
		"an unknown member that names something twice": `{"nodes":[` + good + `],"x":{"k":1,"k":2}}`,
		"an edge that is no object":                    `{"nodes":[` + good + `],"edges":[7]}`,
		"an edge without a source":                     `{"nodes":[` + good + `],"edges":[{"target":"` + lamp + `"}]}`,
		"an edge without a target":                     `{"nodes":[` + good + `],"edges":[{"source":"` + lamp + `","target":null}]}`,
		"an edge whose direction is a text":            `{"nodes":[` + good + `],"edges":[{"source":"` + lamp + `","target":"` + lamp + `","directed":"yes"}]}`,
		"details nested too deep":                      nested(lamp, 62),
		"lists nested without measure":                 `{"nodes":[` + good + `],"x":` + strings.Repeat("[", 500<<10) + strings.Repeat("]", 500<<10) + `}`,
		"objects nested without measure":               `{"nodes":[` + good + `],"x":` + strings.Repeat(`{"":`, 200<<10),
		"lists that are opened and never closed":       strings.Repeat("[", 1<<20),
		"nodes nested without measure":                 `{"nodes":` + strings.Repeat("[", 900<<10),
	}
	var facts []fact
	for what, core := range broken {
		facts = append(facts, fact{name: what + " is refused", core: core, tool: "graph_get_node", args: `{"object_id":"` + lamp + `"}`, code: "snapshot_invalid"})
	}
	return facts
}

// nested is a graph of one node, whose details are lists in one another.
func nested(id string, depth int) string {
	return `{"nodes":[{"id":"` + id + `","details":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}]}`
}

// bounding holds snapshots that are as large as they may be, or one larger.
func bounding() []fact {
	first := `{"object_id":"` + copyID(0) + `"}`
	edge := func(n int) string {
		one := fmt.Sprintf(`{"source":%q,"target":%q},`, copyID(0), copyID(1))
		return strings.TrimSuffix(strings.Repeat(one, n), ",")
	}
	part := `"revision":0`
	return []fact{
		{name: "a graph may have 500 nodes", core: copies(500, ""), tool: "graph_get_node", args: first, part: part},
		{name: "a graph of 501 nodes is refused whole", core: copies(501, ""), tool: "graph_get_node", args: first, code: "snapshot_too_large"},
		{name: "a graph may have 1000 edges", core: copies(2, edge(1000)), tool: "graph_get_node", args: first, part: part},
		{name: "a graph of 1001 edges is refused whole", core: copies(2, edge(1001)), tool: "graph_get_node", args: first, code: "snapshot_too_large"},
		{name: "a graph may be 1 MiB", core: padded(copies(1, ""), 1<<20), tool: "graph_get_node", args: first, part: part},
		{name: "a graph of one byte more is refused whole", core: padded(copies(1, ""), 1<<20+1), tool: "graph_get_node", args: first, code: "snapshot_too_large"},
		{name: "details may be 61 levels deep", core: nested(copyID(0), 61), tool: "graph_get_node", args: first, part: `]]]},"object_refs"`},
		{
			name: "an object of almost 1 MiB is answered whole", tool: "graph_get_node", args: first, part: `\\\\"},"object_refs"`,
			core: `{"nodes":[{"id":"` + copyID(0) + `","label":"` + strings.Repeat(`\\`, 1<<19-100) + `"}]}`,
		},
		{
			name: "half a million numbers are searched", tool: "investigation_search", args: `{"query":"9"}`, part: `{"matches":[],`,
			core: `{"nodes":[{"id":"` + copyID(0) + `","details":[` + strings.TrimSuffix(strings.Repeat("7,", 1<<19-100), ",") + `]}]}`,
		},
		{
			name: "half a million empty objects are read", tool: "evidence_read_excerpt", args: first, part: `"excerpt":""`,
			core: `{"nodes":[{"id":"` + copyID(0) + `","details":[` + strings.TrimSuffix(strings.Repeat("{},", 340<<10), ",") + `]}]}`,
		},
		{
			name: "an object of a hundred thousand names is read", tool: "evidence_read_excerpt", args: first, part: `"truncated":true`,
			core: `{"nodes":[{"id":"` + copyID(0) + `","details":{` + manyNames(90_000) + `}}]}`,
		},
	}
}

func manyNames(n int) string {
	var names strings.Builder
	for i := range n {
		fmt.Fprintf(&names, `"%05x":1,`, i)
	}
	return strings.TrimSuffix(names.String(), ",")
}

// files holds what is no file in the place of one. None of it may be read, and none may hold the call up.
func files() []plugintest.Case {
	names := map[string]string{"core-snapshot.json": "graph_get_node", "jobs-snapshot.json": "jobs_get"}
	args := map[string]string{"core-snapshot.json": `{"object_id":"` + lamp + `"}`, "jobs-snapshot.json": `{"job_id":"` + log + `"}`}
	texts := map[string]string{"core-snapshot.json": lighthouse(), "jobs-snapshot.json": `{"jobs":[{"job_id":"` + log + `"}]}`}
	kinds := []struct {
		what, code string
		put        func(t *testing.T, workspace, name string)
	}{
		{"no file", "snapshot_missing", func(*testing.T, string, string) {}},
		{"a folder", "snapshot_invalid", func(t *testing.T, workspace, name string) {
			must(t, os.Mkdir(filepath.Join(workspace, name), 0o755))
		}},
		{"a pipe", "snapshot_invalid", func(t *testing.T, workspace, name string) {
			must(t, syscall.Mkfifo(filepath.Join(workspace, name), 0o644))
		}},
		{"a link inside the workspace", "snapshot_invalid", func(t *testing.T, workspace, name string) {
			plant(t, workspace, "real.json", texts[name])
			must(t, os.Symlink("real.json", filepath.Join(workspace, name)))
		}},
		{"a link out of the workspace", "snapshot_invalid", func(t *testing.T, workspace, name string) {
			outside := t.TempDir()
			plant(t, outside, name, texts[name])
			must(t, os.Symlink(filepath.Join(outside, name), filepath.Join(workspace, name)))
		}},
		{"a link that leads nowhere", "snapshot_invalid", func(t *testing.T, workspace, name string) {
			must(t, os.Symlink("gone", filepath.Join(workspace, name)))
		}},
	}
	var all []plugintest.Case
	for _, kind := range kinds {
		for name, tool := range names {
			all = append(all, plugintest.Case{Name: kind.what + " for " + name + " is " + kind.code, Run: func(t *testing.T, plugin *plugintest.Plugin) {
				kind.put(t, plugin.Workspace, name)
				fact{tool: tool, args: args[name], code: kind.code}.judge(t, plugin)
			}})
		}
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
