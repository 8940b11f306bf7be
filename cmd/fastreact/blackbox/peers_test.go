package blackbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// serveTee runs the program of its arguments and writes every line with a tools/call that it is sent to the log first:
// the oracle of what reached a server that somebody else wrote.
func serveTee(log string) int {
	oracle := openOracle(log)
	child := exec.Command(os.Args[1], os.Args[2:]...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	stdin, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadBytes('\n')
			if bytes.Contains(line, []byte(`"tools/call"`)) {
				_, _ = oracle.Write(line)
				_ = oracle.Sync()
			}
			if refuse(line) {
				continue
			}
			if _, broken := stdin.Write(line); err != nil || broken != nil {
				_ = stdin.Close()
				return
			}
		}
	}()
	if child.Wait() != nil {
		return 1
	}
	return 0
}

// refuse answers a request itself, as a server does that does not know its method, when the tee was told to.
func refuse(line []byte) bool {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	refused := json.Unmarshal(line, &request) == nil && request.Method != "" && request.Method == os.Getenv("BLACKBOX_TEE_REFUSES")
	if refused {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", request.ID)
	}
	return refused
}

// peer is one MCP server that somebody else wrote.
type peer struct {
	name    string
	program []string          // over stdio; the first is run by Node.js
	env     map[string]string // of the program
	url     string            // over HTTP
	more    string            // more keys of its entry in the configuration
}

// entry is the peer in the configuration. Over stdio the tee stands in front of it.
func (p peer) entry(t *testing.T, folder string) string {
	t.Helper()
	if p.url != "" {
		return fmt.Sprintf("\n    - {name: %q, url: %q, timeout: 50s%s}", p.name, p.url, p.more)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"BLACKBOX_TEE_LOG": filepath.Join(folder, p.name+".log"), "HOME": folder}
	for name, value := range p.env {
		env[name] = value
	}
	args := append([]string{peers.Node(t)}, p.program...)
	return fmt.Sprintf("\n    - {name: %q, command: %q, args: %s, env: %s, timeout: 50s%s}", p.name, self, mustJSON(t, args), mustJSON(t, env), p.more)
}

// callWhatIsAsked is a model whose one call stands in the question: a tool, a blank, its arguments.
func callWhatIsAsked(a asked) said {
	if a.step() > 0 {
		return said{text: "done"}
	}
	tool, args, _ := strings.Cut(a.question(), " ")
	return call(tool, args)
}

// startPeers runs the service with servers that somebody else wrote.
func startPeers(t *testing.T, more string, peers ...peer) (*service, *scriptedModel) {
	t.Helper()
	model := newModel(t, callWhatIsAsked)
	folder := t.TempDir()
	s := &service{t: t, folder: folder, config: filepath.Join(folder, "fastreact.yaml")}
	entries := "  servers:"
	for _, p := range peers {
		entries += p.entry(t, folder)
	}
	text := strings.Replace(config(t, folder, model, more), "  servers:", entries, 1)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	return s, model
}

// tools lists the tools of a server by their registered names without the server's.
func (s *service) tools(server string) []string {
	s.t.Helper()
	_, raw := s.request("GET", "/ready", nil)
	var names []string
	for _, name := range s.object(raw)["mcp"].(map[string]any)["tools"].([]any) {
		if plain, is := strings.CutPrefix(name.(string), server+"_"); is {
			names = append(names, plain)
		}
	}
	if len(names) == 0 {
		s.t.Fatalf("%s offers no tools: %s\n%s", server, raw, s.output)
	}
	return names
}

// result is what a client sees of one call.
type result struct {
	text     string
	failed   bool
	metadata map[string]any
	frames   []frame
}

// call runs one tool in a run of its own.
func (s *service) call(tool string, args any) result {
	s.t.Helper()
	return s.resultIn(s.stream(ask(tool+" "+string(mustJSON(s.t, args)), nil)).rest())
}

func (s *service) resultIn(all []frame) result {
	s.t.Helper()
	results := of(all, "tool_result")
	if len(results) != 1 || len(of(all, "session_end")) != 1 {
		s.t.Fatalf("events %v\n%s", kinds(all), s.output)
	}
	event := results[0].json(s.t)
	metadata := event["metadata"].(map[string]any)
	return result{event["content"].(string), metadata["is_error"] == true, metadata, all}
}

// reached lists the arguments of the calls of a tool that reached a server.
func (s *service) reached(server, tool string) []string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.folder, server+".log"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	var arguments []string
	for line := range bytes.Lines(raw) {
		var request struct {
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal(line, &request); err != nil {
			s.t.Fatalf("line %q: %v", line, err)
		}
		if request.Params.Name == tool {
			arguments = append(arguments, string(request.Params.Arguments))
		}
	}
	return arguments
}

// demand fails unless a call had the outcome and its text holds the words.
func (r result) demand(t *testing.T, failed bool, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(r.text, word) {
			t.Errorf("no %q in %.1000q", word, r.text)
		}
	}
	if r.failed != failed {
		t.Errorf("failed is %v: %.1000q", r.failed, r.text)
	}
}

// denied demands that a call was denied and that a server was never sent the tool.
func (s *service) denied(r result, server, tool string) {
	s.t.Helper()
	if !strings.HasPrefix(r.text, "[SAFETY_BLOCKED]") {
		s.t.Errorf("not denied: %.500q", r.text)
	}
	if calls := s.reached(server, tool); len(calls) != 0 {
		s.t.Errorf("the server received %v", calls)
	}
}
