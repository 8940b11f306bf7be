package blackbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// doer is the MCP server of a cluster. Its tools deed, safe and bump write down what they did, so that no crash takes it
// back, and answer then: not while a file hold-ID is there.
type doer struct {
	mu     sync.Mutex // one line at a time
	folder string
	oracle *os.File
}

// serveDeeds is the program of that server. It ends with its input, calls under way or not.
func serveDeeds(folder string) {
	d := &doer{folder: folder, oracle: openOracle(filepath.Join(folder, "deeds.log"))}
	hearRequests(func(id json.RawMessage, method string, params json.RawMessage) { go d.handle(id, method, params) })
}

func (d *doer) handle(id json.RawMessage, method string, params json.RawMessage) {
	reply := map[string]any{"jsonrpc": "2.0", "id": id}
	switch method {
	case "tools/list":
		reply["result"] = map[string]any{"tools": deedTools()}
	case "tools/call":
		reply["result"] = d.do(params)
	default:
		result, failure := answerMCP(method, params, d.oracle)
		reply["result"] = result
		if failure != nil {
			delete(reply, "result")
			reply["error"] = failure
		}
	}
	out, _ := json.Marshal(reply)
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Printf("%s\n", out)
}

func deedTools() []any {
	var all []any
	for _, name := range []string{"deed", "safe", "bump"} {
		all = append(all, map[string]any{"name": name, "description": name, "inputSchema": map[string]any{
			"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}},
		}})
	}
	return all
}

func (d *doer) do(params json.RawMessage) any {
	var asked struct {
		Name      string         `json:"name"`
		Arguments deed           `json:"arguments"`
		Meta      map[string]any `json:"_meta"`
	}
	_ = json.Unmarshal(params, &asked)
	done := asked.Arguments
	done.Tool = asked.Name
	done.Key, _ = asked.Meta["fastreact/idempotency_key"].(string)
	line, _ := json.Marshal(done)
	_, _ = d.oracle.Write(append(line, '\n'))
	_ = d.oracle.Sync()
	for d.held(done.ID) {
		<-time.After(5 * time.Millisecond)
	}
	return textResult("did " + done.ID)
}

func (d *doer) held(id string) bool {
	_, err := os.Stat(filepath.Join(d.folder, "hold-"+id))
	return err == nil
}

// gates hold back the answers of a model, by name.
type gates struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

func (g *gates) at(name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = map[string]chan struct{}{}
	}
	if g.open[name] == nil {
		g.open[name] = make(chan struct{})
	}
	return g.open[name]
}

// letPass opens a gate for good.
func (g *gates) letPass(name string) {
	gate := g.at(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// letAllPass opens every gate there is.
func (g *gates) letAllPass() {
	g.mu.Lock()
	names := make([]string, 0, len(g.open))
	for name := range g.open {
		names = append(names, name)
	}
	g.mu.Unlock()
	for _, name := range names {
		g.letPass(name)
	}
}

// newPlanned is a model that does what the question says: steps with a semicolon between them, each a tool and an id
// ("deed a; bump b"), and then an answer. "think g" before a tool, or as the last step, waits at the gate g first.
func newPlanned(t *testing.T) (*scriptedModel, *gates) {
	t.Helper()
	g := &gates{}
	model := newModel(t, func(a asked) said { return g.follow(a.question(), a.step()) })
	t.Cleanup(g.letAllPass)
	return model, g
}

func (g *gates) follow(plan string, step int) said {
	var words []string
	if steps := strings.Split(plan, ";"); step < len(steps) {
		words = strings.Fields(steps[step])
	}
	if len(words) > 1 && words[0] == "think" {
		<-g.at(words[1])
		words = words[2:]
	}
	if len(words) < 2 {
		return said{text: "done"}
	}
	args, _ := json.Marshal(map[string]string{"id": words[1]})
	return said{calls: []wish{{fmt.Sprintf("call_%d", step), "pska_" + words[0], string(args)}}}
}
