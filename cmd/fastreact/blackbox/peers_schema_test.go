package blackbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/testdata/peers"
)

// listDirectly asks a peer over stdio for its tools, without the program under test, and returns their schemas.
func listDirectly(t *testing.T, p peer) map[string]any {
	t.Helper()
	command := exec.Command(peers.Node(t), p.program...)
	command.Env = os.Environ()
	for name, value := range p.env {
		command.Env = append(command.Env, name+"="+value)
	}
	stdin, errIn := command.StdinPipe()
	stdout, errOut := command.StdoutPipe()
	if errIn != nil || errOut != nil || command.Start() != nil {
		t.Fatal("the peer does not start")
	}
	defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var answer struct {
			ID     int
			Result struct {
				Tools []struct {
					Name        string
					InputSchema any
				}
			}
		}
		if json.Unmarshal(lines.Bytes(), &answer) != nil || answer.ID != 2 {
			continue
		}
		schemas := map[string]any{}
		for _, tool := range answer.Result.Tools {
			schemas[p.name+"_"+tool.Name] = tool.InputSchema
		}
		return schemas
	}
	t.Fatal("the peer lists no tools")
	return nil
}

// TestSchemasReachTheModelAsTheirServersWroteThem compares what a server lists with what the model's API is sent.
func TestSchemasReachTheModelAsTheirServersWroteThem(t *testing.T) {
	t.Parallel()
	peers := []peer{everything(t), {
		name: "git", program: []string{npmPeer(t, "git-mcp-server")},
		env: map[string]string{"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error"},
	}}
	s, model := startPeers(t, "policy: {default_action: allow}\n", peers...)
	s.call("everything_echo", map[string]any{"message": "x"}).demand(t, false, "Echo: x")
	var request struct {
		Tools []struct {
			Function struct {
				Name       string
				Parameters any
			}
		}
	}
	if err := json.Unmarshal(model.requests()[0].raw, &request); err != nil {
		t.Fatal(err)
	}
	sent := map[string]any{}
	for _, tool := range request.Tools {
		sent[tool.Function.Name] = tool.Function.Parameters
	}
	for _, p := range peers {
		for name, schema := range listDirectly(t, p) {
			if diff := cmp.Diff(schema, sent[name]); diff != "" {
				t.Errorf("%s (-server +model):\n%s", name, diff)
			}
		}
	}
}
