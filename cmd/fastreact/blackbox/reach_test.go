package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tallying builds the plugin of testdata/tally for a server and returns the module. Its manifest asks for two origins.
func tallying(t *testing.T, port, own string) string {
	t.Helper()
	folder := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS("testdata/tally")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/tally\n\ngo 1.26.0\n\nrequire github.com/fastreact/fastreact v0.0.0\n\n" +
			"replace github.com/fastreact/fastreact => " + root + "\n",
		"manifest.json": `{"abi": 1, "name": "tally", "version": "1", "kind": "tool",
			"tools": [{"name": "tally", "description": "Fetches and counts.", "input_schema": {"type": "object"}}],
			"capabilities": {"kv": {"bytes": 1000}, "secrets": [{"name": "token", "hosts": ["127.0.0.1"]}],
				"http": [{"scheme": "http", "host": "127.0.0.1", "port": ` + port + `}, {"scheme": "http", "host": "127.0.0.1", "port": ` + own + `}]}}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(binary, "plugin", "build", folder).CombinedOutput(); err != nil {
		t.Fatalf("plugin build: %v\n%s", err, out)
	}
	return filepath.Join(folder, "plugin.wasm")
}

// awaitPlugin waits until a plugin is loaded. A machine that is busy takes its time to compile the others before it.
func (s *service) awaitPlugin(name string) {
	s.t.Helper()
	s.await(5*time.Minute, func() (bool, string) {
		return strings.Contains(s.output.String(), `msg="plugin loaded" plugin=`+name), name + " is not loaded"
	})
}

// tallies is a model that fetches the URL of the question, with the secret.
func tallies(a asked) said {
	if a.step() > 0 {
		return said{text: "Done."}
	}
	question := a.question()
	args, _ := json.Marshal(map[string]string{"url": question[strings.Index(question, "$ ")+2:], "header": "Bearer secret://token"})
	return call("tally", string(args))
}

func TestAToolReachesWhatItWasGrantedAndKeepsItsCountOverARestart(t *testing.T) {
	t.Parallel()
	const secret = "canary-of-plugins/42"
	var came []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came = append(came, r.Header.Get("Authorization"))
		if r.URL.Path == "/echo" {
			_, _ = io.WriteString(w, r.Header.Get("Authorization"))
			return
		}
		_, _ = io.WriteString(w, "welcome")
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	own := freePort(t)
	wasm := tallying(t, port, own)

	without := refusal(t, fmt.Sprintf(`{path: %q, allow_unpinned: true, grants: {kv: {bytes: 1000}}}`, wasm))
	for _, want := range []string{`capability "http" is not granted`, "the operator may add", "grants: {http: [{scheme: http, host: \"127.0.0.1\", port: " + port} {
		if !strings.Contains(without, want) {
			t.Errorf("without its grant, it does not say %q:\n%s", want, without)
		}
	}

	model := newModel(t, tallies)
	more := fmt.Sprintf(`plugins: {cache_dir: %q, secrets: [{name: token, value_env: PLUGIN_TOKEN}], load: [{path: %q, allow_unpinned: true,
  grants: {kv: {bytes: 1000}, secrets: [{name: token, hosts: ["127.0.0.1"]}],
    http: [{scheme: http, host: "127.0.0.1", port: %s}, {scheme: http, host: "127.0.0.1", port: %s}]}}]}
policy: {tool_rules: {tally: allow}}
telemetry: {log_level: debug}
`, cacheDir(t), wasm, port, own)
	s := startEdited(t, model, func(text string) string {
		return strings.Replace(text[:strings.Index(text, "\nplugins: {")+1]+more, "127.0.0.1:0", "127.0.0.1:"+own, 1)
	}, "PLUGIN_TOKEN="+secret)
	s.awaitPlugin("tally")
	var shown strings.Builder
	fetch := func(url, want string) {
		t.Helper()
		stream := s.stream(ask("$ "+url, nil)).rest()
		for _, f := range stream {
			shown.WriteString(f.raw)
		}
		results := of(stream, "tool_result")
		if len(results) != 1 || results[0].json(t)["content"] != want {
			t.Fatalf("%s: %v, want %q\n%s", url, results, want, s.output)
		}
	}
	fetch(server.URL+"/", "fetch 1: welcome")
	fetch(server.URL+"/echo", "egress_secret_in_response")
	fetch("http://127.0.0.1:"+own+"/health", "egress_own_listener")
	shown.WriteString(s.output.String())
	s.kill()
	s.run()
	s.awaitPlugin("tally")
	fetch(server.URL+"/", "fetch 4: welcome")
	_, ready := s.request("GET", "/ready", nil)
	printed, _ := exec.Command(binary, "config", "print", "--config", s.config).CombinedOutput()
	shown.WriteString(s.output.String() + string(ready) + string(printed))
	if strings.Contains(shown.String(), secret) {
		t.Error("the secret is shown")
	}
	if strings.Join(came, "|") != strings.Repeat("Bearer "+secret+"|", 2)+"Bearer "+secret {
		t.Errorf("the server was given %q", came)
	}
}
