package blackbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// serveMCP is a scripted MCP server on standard input and output, run by a second process of the test binary. It
// writes the params of every tools/call it receives to the log before it answers: the log is the oracle.
func serveMCP(log string) {
	oracle := openOracle(log)
	hearRequests(func(id json.RawMessage, method string, params json.RawMessage) {
		result, failure := answerMCP(method, params, oracle)
		reply := map[string]any{"jsonrpc": "2.0", "id": id}
		if failure != nil {
			reply["error"] = failure
		} else {
			reply["result"] = result
		}
		out, _ := json.Marshal(reply)
		fmt.Printf("%s\n", out)
	})
}

// openOracle opens the log of a server's process, or ends the process.
func openOracle(log string) *os.File {
	oracle, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return oracle
}

// hearRequests hands every request on standard input to handle, until the input ends. Notifications are passed over.
func hearRequests(handle func(id json.RawMessage, method string, params json.RawMessage)) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &request) == nil && request.ID != nil {
			handle(request.ID, request.Method, request.Params)
		}
	}
}

func answerMCP(method string, params json.RawMessage, oracle *os.File) (result, failure any) {
	switch method {
	case "initialize":
		var asked struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(params, &asked)
		return map[string]any{
			"protocolVersion": asked.ProtocolVersion,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "scripted", "version": "1"},
		}, nil
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		return map[string]any{"tools": scriptedTools()}, nil
	case "tools/call":
		var compact bytes.Buffer
		_ = json.Compact(&compact, params)
		fmt.Fprintf(oracle, "%s\n", compact.Bytes())
		_ = oracle.Sync()
		return map[string]any{"content": []any{map[string]any{
			"type": "text",
			"text": `{"results":[{"title":"Alpha","citation":{"source_item_id":"src_a","knowledge_base_id":"kb_a"}}],"citations":[{"source_item_id":"src_a","knowledge_base_id":"kb_a"}]}`,
		}}}, nil
	}
	return nil, map[string]any{"code": -32601, "message": "method not found"}
}

func scriptedTools() []any {
	open := map[string]any{"type": "object", "properties": map[string]any{
		"query": map[string]any{"type": "string"}, "user_id": map[string]any{"type": "string"},
	}}
	if os.Getenv("BLACKBOX_MCP_DIGEST") != "" {
		return digestTools()
	}
	return []any{
		map[string]any{"name": "pska_search", "description": "search", "inputSchema": open},
		map[string]any{"name": "bump", "description": "count one", "inputSchema": map[string]any{"type": "object"}},
	}
}

// received reads the oracle: the params of every tools/call that arrived, in order.
func received(t *testing.T, log string) []map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(log)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var calls []map[string]json.RawMessage
	for line := range bytes.Lines(raw) {
		var params map[string]json.RawMessage
		if err := json.Unmarshal(line, &params); err != nil {
			t.Fatalf("oracle line %q: %v", line, err)
		}
		calls = append(calls, params)
	}
	return calls
}
