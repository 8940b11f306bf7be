package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// env is an environment for tests.
type env map[string]string

func (e env) get(name string) string { return e[name] }

// sameTree compares plugin settings as JSON values.
var sameTree = cmp.Transformer("tree", func(tree Tree) string {
	var value any
	_ = json.Unmarshal(tree, &value)
	return fmt.Sprint(value)
})

// exampleYAML sets something in every section.
const exampleYAML = `
server: {addr: "127.0.0.1:9999", authorities: ["fastreact.example"], keepalive: 5s, max_request_bytes: 2048}
auth:
  operators: {role: admin}
model: {base_url: "http://127.0.0.1:4000/v1", name: demo, max_retries: 1}
agent: {max_iterations: 5}
store: {path: x.db, retention: {events: 24h}}
workers: {chat: 4}
workspace: {root: w}
tools: {timeout: 5s}
plugins:
  load:
    - path: my.wasm
      sha256: "0000000000000000000000000000000000000000000000000000000000000000"
      grants: {files: [{path: workspace, at: /, mode: rw}]}
      config: {list: [1, 2.5, "x", null, true], nested: {a: "yes"}}
      shadow: true
      limits: {wall: 2s, memory_pages: 256}
policy:
  default_action: caution
  tool_rules: {exec: require_approval, write_file: {action: deny}}
  tenant_rules: {pska: {tools: {pska_search: allow, exec: deny}}}
  user_rules: {"pska:operator": {tools: {exec: {action: require_approval}}, action: caution}}
approvals: {timeout: 10s, self: true}
mcp:
  servers:
    - {name: pska, command: pska, args: [mcp-server], env: {API_HOST: secret-ish}}
    - {name: docs, url: "http://127.0.0.1:9000/mcp", headers_env: {Authorization: DOCS_TOKEN}}
agent_tools:
  addr: "127.0.0.1:9998"
  workspaces: {case-1: "."}
  endpoint: "http://127.0.0.1:8080"
  model: qwen
  providers: [{id: archive, url: "http://127.0.0.1:9000/lookup"}]
  limits: {calls: 8}
telemetry: {prometheus: false, log_level: warn}
`

func TestWithoutAFileTheDefaultsRun(t *testing.T) {
	loaded := load(t, LoadOptions{Getenv: env{}.get})
	got := loaded.Config.Server
	want := ServerConfig{
		Addr: "127.0.0.1:18741", MaxRequestBytes: 1048576,
		Keepalive: 15 * time.Second, ShutdownGrace: 20 * time.Second, RateLimits: RateLimits{MaxKeys: 10000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestFlagBeatsEnvironmentBeatsFileBeatsDefault(t *testing.T) {
	path := file(t, `server: {addr: "127.0.0.1:1"}
model: {name: from-file, base_url: "http://from-file"}
telemetry: {log_level: warn}`)
	loaded := load(t, LoadOptions{
		Path: path,
		Getenv: env{
			"FASTREACT_ADDR": "127.0.0.1:2", "FASTREACT_MODEL_NAME": "from-env", "FASTREACT_LOG_LEVEL": "debug",
		}.get,
		Overrides: map[string]string{"server.addr": "127.0.0.1:3"},
	})
	got := []string{loaded.Config.Server.Addr, loaded.Config.Model.Name, loaded.Config.Model.BaseURL, loaded.Config.Agent.RunTimeout.String()}
	want := []string{"127.0.0.1:3", "from-env", "http://from-file", "15m0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	origins := []Origin{loaded.Origin("server.addr"), loaded.Origin("model.name"), loaded.Origin("model.base_url"), loaded.Origin("agent.run_timeout")}
	if diff := cmp.Diff([]Origin{FromFlag, FromEnvironment, FromFile, FromDefault}, origins); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}

func TestConfigPathComesFromTheEnvironment(t *testing.T) {
	path := file(t, "workers: {chat: 3}")
	loaded := load(t, LoadOptions{Getenv: env{"FASTREACT_CONFIG": path}.get})
	if loaded.Config.Workers.Chat != 3 || loaded.File != path {
		t.Errorf("chat workers %d from %q, want 3 from %q", loaded.Config.Workers.Chat, loaded.File, path)
	}
}

func TestJSONWithTabsIsRead(t *testing.T) {
	loaded := load(t, LoadOptions{Path: file(t, "{\n\t\"workers\": {\n\t\t\"chat\": 3\n\t}\n}"), Getenv: env{}.get})
	if loaded.Config.Workers.Chat != 3 {
		t.Errorf("chat workers %d, want 3", loaded.Config.Workers.Chat)
	}
}

func TestEmptyFileIsTheDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if diff := cmp.Diff(DefaultConfig(), load(t, LoadOptions{Path: file(t, text), Getenv: env{}.get}).Config); diff != "" {
			t.Errorf("%q (-default +loaded):\n%s", text, diff)
		}
	}
}

func TestKnowledgeServerIsScopedAndToldTheIdentity(t *testing.T) {
	loaded := load(t, LoadOptions{Getenv: env{}.get, Path: file(t, `mcp: {servers: [
  {name: pska, command: pska},
  {name: docs, url: "http://127.0.0.1:9/mcp"},
]}`)})
	pska, docs := loaded.Config.MCP.Servers[0], loaded.Config.MCP.Servers[1]
	if !pska.Scope || !pska.ForwardIdentity || pska.Transport != "stdio" || pska.Timeout != 30*time.Second {
		t.Errorf("pska: %+v", pska)
	}
	if docs.Scope || docs.ForwardIdentity || docs.Transport != "http" || docs.Isolation != "shared" {
		t.Errorf("docs: %+v", docs)
	}
}

func TestKnowledgeServerMayBeSetOtherwise(t *testing.T) {
	loaded := load(t, LoadOptions{Getenv: env{}.get, Path: file(t,
		`mcp: {servers: [{name: pska, command: pska, scope: false, forward_identity: false}]}`)})
	if pska := loaded.Config.MCP.Servers[0]; pska.Scope || pska.ForwardIdentity {
		t.Errorf("pska: %+v", pska)
	}
}

func TestSettingTheServiceTokenRequiresIt(t *testing.T) {
	loaded := load(t, LoadOptions{Path: file(t, "auth: {mode: none}"), Getenv: env{"FASTREACT_SERVICE_TOKEN": "t"}.get})
	if loaded.Config.Auth.Mode != AuthServiceToken || loaded.Config.Auth.ServiceToken.Reveal() != "t" {
		t.Errorf("mode %s", loaded.Config.Auth.Mode)
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	token, prompt := file(t, "from-file\n"), file(t, "Be brief.\n")
	loaded := load(t, LoadOptions{Getenv: env{}.get, Path: file(t, fmt.Sprintf(
		"auth: {service_token_file: %s}\nmodel: {api_key_file: %s}\nagent: {system_prompt_file: %s}\n"+
			"mcp: {servers: [{name: d, url: 'http://h', headers_file: {Authorization: %s}}]}",
		token, token, prompt, token))})
	got := []string{
		loaded.Config.Auth.ServiceToken.Reveal(), loaded.Config.Model.APIKey.Reveal(), loaded.Config.Agent.SystemPrompt,
		loaded.Config.MCP.Servers[0].Headers["Authorization"].Reveal(),
	}
	if diff := cmp.Diff([]string{"from-file", "from-file", "Be brief.\n", "from-file"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestServerEnvironmentJoinsPlainAndNamedValues(t *testing.T) {
	loaded := load(t, LoadOptions{Getenv: env{"OURS": "value"}.get, Path: file(t,
		`mcp: {servers: [{name: d, command: c, env: {A: plain}, env_from: {B: OURS}}]}`)})
	server := loaded.Config.MCP.Servers[0]
	if server.Environment["A"].Reveal() != "plain" || server.Environment["B"].Reveal() != "value" {
		t.Error("the environment of the server is incomplete")
	}
}

func TestNonLoopbackWithoutTokenNeedsInsecure(t *testing.T) {
	options := LoadOptions{Getenv: env{}.get, Overrides: map[string]string{"server.addr": "0.0.0.0:80"}}
	if _, err := Load(options); err == nil {
		t.Error("an open listener without a token was accepted")
	}
	options.Insecure = true
	load(t, options)
	options.Insecure, options.Getenv = false, env{"FASTREACT_SERVICE_TOKEN": "t"}.get
	load(t, options)
}

func TestSecretShowsItselfToNobody(t *testing.T) {
	secret := Secret("canary")
	holder := struct{ S Secret }{secret}
	asJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret, "holder", holder)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "holder", holder)
	whole := string(asJSON) + string(asYAML) + log.String()
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%X", "%d", "%T %10s"} {
		whole += fmt.Sprintf(verb, secret) + fmt.Sprintf(verb, holder) + fmt.Sprintf(verb, &holder)
	}
	if strings.Contains(whole, "canary") || strings.Contains(whole, "63616e617279") {
		t.Errorf("a secret shows in %s", whole)
	}
}

func TestMissingFileIsNoProblemListButAnError(t *testing.T) {
	_, err := Load(LoadOptions{Path: filepath.Join(t.TempDir(), "absent.yaml"), Getenv: env{}.get})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want a missing file", err)
	}
}

// load loads or fails the test.
func load(t *testing.T, options LoadOptions) *Loaded {
	t.Helper()
	loaded, err := Load(options)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return loaded
}

// file writes text into a file of its own.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fastreact.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
