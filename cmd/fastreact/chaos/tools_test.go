package chaos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// effect is a line of the oracle: something that a tool did in the world, and cannot take back.
type effect struct {
	Tool string `json:"tool"`
	Run  string `json:"run"`
	Step string `json:"step"` // of the plan, and the call within it: "2.0"
	Slow int    `json:"slow"` // milliseconds between the effect and its answer
	Key  string `json:"key"`  // the idempotency key that came with the call
	Node int    `json:"node"` // the process that asked
}

// serveTools is an MCP server on standard input and output, run by a second process of the test binary. charge and
// pay have effects that must not be repeated, look may be called again.
func serveTools(path string) {
	oracle, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &toolServer{oracle: oracle}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 32<<20)
	var calls sync.WaitGroup
	for lines.Scan() {
		var request rpc
		if json.Unmarshal(lines.Bytes(), &request) == nil && request.ID != nil {
			calls.Go(func() { s.reply(request) })
		}
	}
	calls.Wait()
}

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type toolServer struct {
	oracle *os.File
	mu     sync.Mutex // one line of an answer at a time
}

func (s *toolServer) reply(request rpc) {
	reply := map[string]any{"jsonrpc": "2.0", "id": request.ID}
	switch request.Method {
	case "initialize":
		reply["result"] = greeting(request.Params)
	case "ping":
		reply["result"] = map[string]any{}
	case "tools/list":
		reply["result"] = map[string]any{"tools": tools()}
	case "tools/call":
		reply["result"] = s.call(request.Params)
	default:
		reply["error"] = map[string]any{"code": -32601, "message": "method not found"}
	}
	raw, _ := json.Marshal(reply)
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf("%s\n", raw)
}

func greeting(params json.RawMessage) any {
	var asked struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &asked)
	return map[string]any{
		"protocolVersion": asked.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
		"serverInfo": map[string]any{"name": "shop", "version": "1"},
	}
}

func tools() []any {
	var all []any
	for _, name := range []string{"charge", "look", "pay"} {
		all = append(all, map[string]any{"name": name, "description": name, "inputSchema": map[string]any{
			"type": "object", "properties": map[string]any{
				"run": map[string]any{"type": "string"}, "step": map[string]any{"type": "string"},
				"slow": map[string]any{"type": "integer"},
			},
		}})
	}
	return all
}

// call writes the effect down, so that no crash takes it back, and answers some time later.
func (s *toolServer) call(params json.RawMessage) any {
	var asked struct {
		Name      string         `json:"name"`
		Arguments effect         `json:"arguments"`
		Meta      map[string]any `json:"_meta"`
	}
	_ = json.Unmarshal(params, &asked)
	done := asked.Arguments
	done.Tool, done.Node = asked.Name, os.Getppid()
	done.Key, _ = asked.Meta["fastreact/idempotency_key"].(string)
	raw, _ := json.Marshal(done)
	_, _ = s.oracle.Write(append(raw, '\n'))
	_ = s.oracle.Sync()
	<-time.After(time.Duration(done.Slow) * time.Millisecond)
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": "done " + done.Step}}}
}

// effects reads the oracle.
func (w *world) effects() []effect {
	raw, err := os.ReadFile(w.oracle())
	if err != nil && !os.IsNotExist(err) {
		w.violate("oracle", "%v", err)
	}
	var all []effect
	for line := range bytes.Lines(raw) {
		var one effect
		if err := json.Unmarshal(line, &one); err != nil {
			w.violate("oracle", "line %q: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}
