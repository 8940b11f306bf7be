package host

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/localagent"
)

// These are the numbers of the protocol.
func TestAgentToolsAreOffAndHaveTheLimitsOfTheirProtocol(t *testing.T) {
	want := AgentToolsConfig{
		ModelTimeout: 30 * time.Second, SessionTTL: time.Hour, GrantTTL: time.Hour, MutationInterval: 30 * time.Millisecond,
		BodyTimeout: 30 * time.Second, CallTimeout: time.Minute,
		Limits: AgentToolsLimits{
			Calls: 64, ResultBytes: 262144, Events: 128, Turns: 32, BodyBytes: 4096, Queue: 8, ModelCalls: 8, ToolCalls: 8,
			RequestBytes: 131072, ResponseBytes: 262144, Grants: 64, Campaigns: 64,
		},
	}
	got := load(t, LoadOptions{Getenv: env{}.get}).Config.AgentTools
	if diff := cmp.Diff(want, got); diff != "" || got.wanted() {
		t.Errorf("wanted %v; defaults (-want +got):\n%s", got.wanted(), diff)
	}
}

func TestEveryLimitOfAgentToolsOfZeroOrBelowIsRefusedInOneGo(t *testing.T) {
	limits := numbersBelow(reflect.TypeFor[AgentToolsConfig](), "agent_tools")
	if len(limits) < 18 {
		t.Fatalf("only %d limits were found: %v", len(limits), limits)
	}
	refuseNothingAndLess(t, limits)
}

func TestNoLimitOfAgentToolsGoesAboveTheProtocol(t *testing.T) {
	overrides := map[string]string{}
	for path, kind := range numbersBelow(reflect.TypeFor[AgentToolsLimits](), "agent_tools.limits") {
		if kind != durationType {
			overrides[path] = "262145"
		}
	}
	overrides["agent_tools.grant_ttl"] = "1h0m1s"
	refusedEach(t, overrides)
}

func TestEveryProblemOfAgentToolsIsSaidInOneGoWithItsPlace(t *testing.T) {
	path := file(t, `agent_tools:
  addr: "0.0.0.0:18742"
  authority: "tools"
  active: gone
  workspaces:
    Demo: "."
    none: nowhere/at/all
  endpoint: "http://10.0.0.1:80"
  providers:
    - {id: none, url: "ftp://x"}
  session_ttl: 0s
`)
	_, err := Load(LoadOptions{Path: path, Getenv: env{}.get})
	want := strings.Join([]string{
		`:2:3: agent_tools.model: is missing (name the model that the server of agent_tools.endpoint knows)`,
		`:2:9: agent_tools.addr: can be reached from other machines (use a form like 127.0.0.1:18742)`,
		`:3:14: agent_tools.authority: names no port (use a form like tools.localhost:18742)`,
		`:4:11: agent_tools.active: is not one of agent_tools.workspaces (add it there, or name one that is there)`,
		`:6:11: agent_tools.workspaces.Demo: is not an id of a workspace (use letters a to z, digits, hyphens and underscores, at most 64)`,
		`:7:11: agent_tools.workspaces.none: cannot be read: stat nowhere/at/all: no such file or directory (relative paths are relative to the working directory)`,
		`:8:13: agent_tools.endpoint: is not the address of a model on this machine (use a form like http://127.0.0.1:8080 or http://[::1]:8080)`,
		`:10:12: agent_tools.providers[0].id: is not an id of a provider (use letters a to z, digits, hyphens and underscores, at most 64, and not the word none)`,
		`:10:23: agent_tools.providers[0].url: is not an http or https URL (use a form like https://archive.example/lookup)`,
		`:11:16: agent_tools.session_ttl: must lie between 1s and 24h (the default is 1h)`,
	}, "\n")
	got := ""
	if err != nil {
		got = strings.ReplaceAll(err.Error(), path, "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestAgentToolsThatCannotServeAreRefused(t *testing.T) {
	here := filepath.ToSlash(t.TempDir())
	regular := filepath.ToSlash(file(t, "x"))
	for name, c := range map[string]struct{ text, want string }{
		"no address":          {`addr: here`, "addr: is not an address"},
		"every address":       {`addr: ":18742"`, "addr: can be reached from other machines"},
		"another machine":     {`addr: "192.168.0.1:18742"`, "addr: can be reached from other machines"},
		"a name":              {`addr: "tools.example:18742"`, "addr: can be reached from other machines"},
		"the service's own":   {`addr: "127.0.0.1:18741"`, "addr: is the port of server.addr"},
		"authority, a URL":    {`authority: "http://a:1"`, "authority: is not a host name"},
		"folder, a file":      {`addr: "127.0.0.1:0", workspaces: {a: "` + regular + `"}`, "workspaces.a: is not a folder"},
		"folder, empty":       {`addr: "127.0.0.1:0", workspaces: {a: ""}`, "workspaces.a: names no folder"},
		"id, dots":            {`workspaces: {"..": "` + here + `"}`, "workspaces...: is not an id"},
		"id, long":            {`workspaces: {` + strings.Repeat("a", 65) + `: "` + here + `"}`, "is not an id of a workspace"},
		"active of none":      {`active: a`, "active: is not one of agent_tools.workspaces"},
		"mode":                {`mode: cloud`, `mode: "cloud" is not a value of this key`},
		"model without":       {`mode: local-model`, "endpoint: is missing"},
		"endpoint, ourselves": {`endpoint: "http://127.0.0.1:18741/", model: m`, "endpoint: is an address of this service"},
		"endpoint, our tools": {`endpoint: "http://[::1]:9", model: m, addr: "127.0.0.1:9"`, "endpoint: is an address of this service"},
		"endpoint, no model":  {`endpoint: "http://127.0.0.1:8080"`, "model: is missing"},
		"demo with endpoint":  {`mode: deterministic-demo, endpoint: "http://127.0.0.1:8080"`, "endpoint: has no meaning"},
		"demo with model":     {`model: qwen`, "model: has no meaning"},
		"provider twice":      {`providers: [{id: a, url: "https://h/"}, {id: a, url: "https://h/"}]`, "providers[1].id: two providers"},
		"provider, no id":     {`providers: [{url: "https://h/"}]`, "providers[0].id: is not an id"},
		"provider, no url":    {`providers: [{id: a}]`, "providers[0].url: is not an http or https URL"},
		"provider, secret":    {`providers: [{id: a, url: "https://u:p@h/"}]`, "providers[0].url: holds a user name or password"},
		"provider, ranges":    {`providers: [{id: a, url: "https://h/", addresses: [b]}]`, "providers[0].url: is not written as it is compared"},
		"too many providers":  {`providers: [` + strings.Repeat(`{}, `, 9) + `]`, "providers: are too many"},
		"a key of nobody":     {`limits: {call: 3}`, "limits.call: unknown key"},
		"a workspace as list": {`workspaces: [a]`, "workspaces: must be a mapping, not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(LoadOptions{Path: file(t, "agent_tools: {"+c.text+"}"), Getenv: env{}.get})
			if err == nil || !strings.Contains(err.Error(), "agent_tools.") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestALocalModelIsReachedOnlyAtItsCanonicalAddress(t *testing.T) {
	for endpoint, accepted := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://127.0.0.1:8080/": true, "http://[::1]:1": true, "http://127.0.0.1:65535": true,
		"http://localhost:8080": false, "https://127.0.0.1:8080": false, "http://127.0.0.1": false, "http://127.0.0.1:0": false,
		"http://127.0.0.1:08080": false, "http://127.0.0.1:65536": false, "http://127.0.0.2:8080": false, "http://0.0.0.0:80": false,
		"http://127.0.0.1:8080//": false, "http://127.0.0.1:8080/v1": false, "http://127.0.0.1:8080?x": false,
		"http://127.0.0.1:8080#x": false, "http://u@127.0.0.1:8080": false, "HTTP://127.0.0.1:8080": false,
		"http://[0:0:0:0:0:0:0:1]:80": false, "http://[::ffff:127.0.0.1]:80": false, "http://[::1%25lo]:80": false,
		"http://2130706433:80": false, "http://127.1:80": false, " http://127.0.0.1:80": false, "http://127.0.0.1:80 ": false,
	} {
		text := `agent_tools: {model: qwen, endpoint: "` + endpoint + `"}`
		if _, err := Load(LoadOptions{Path: file(t, text), Getenv: env{}.get}); (err == nil) != accepted {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestTheOnlyWorkspaceIsActiveAndTheEndpointSetsTheMode(t *testing.T) {
	for _, c := range []struct {
		config AgentToolsConfig
		active string
		mode   localagent.Mode
	}{
		{AgentToolsConfig{}, "", localagent.Demo},
		{AgentToolsConfig{Workspaces: map[string]string{"a": "x"}}, "a", localagent.Demo},
		{AgentToolsConfig{Workspaces: map[string]string{"a": "x", "b": "y"}}, "", localagent.Demo},
		{AgentToolsConfig{Workspaces: map[string]string{"a": "x", "b": "y"}, Active: "b"}, "b", localagent.Demo},
		{AgentToolsConfig{Endpoint: "http://127.0.0.1:1"}, "", localagent.LocalModel},
	} {
		if c.config.firstWorkspace() != c.active || c.config.runtimeMode() != c.mode {
			t.Errorf("%+v: %q in mode %q", c.config, c.config.firstWorkspace(), c.config.runtimeMode())
		}
	}
}
