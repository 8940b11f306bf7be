package fastreact

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

func looking(i *inspector) func(*Config, *web.Config) {
	return func(cfg *Config, _ *web.Config) { cfg.Inspector = i }
}

// undated returns a body without its timestamp.
func undated(t *testing.T, body string) string {
	t.Helper()
	before, after, found := strings.Cut(body, `"timestamp":"`)
	if !found || len(after) < 33 || after[32] != '"' {
		t.Fatalf("no timestamp in %s", body)
	}
	return before + after[33:]
}

func TestHealthIsPublicAndTheseBytes(t *testing.T) {
	server := open(t, newBook(nil), func(cfg *Config, door *web.Config) {
		cfg.AgentReady = func() bool { return false }
		door.ServiceToken = token
	})
	_, body := call(t, server, "GET", "/health", "")
	want := `{"status":"healthy","agent_ready":false,"service_contract":"fastreact.agent_event.v1","version":"1.2.3",}`
	if diff := cmp.Diff(want, undated(t, body)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryOtherRouteNeedsTheToken(t *testing.T) {
	server := open(t, newBook(nil), func(_ *Config, door *web.Config) {
		door.ServiceToken, door.AdminToken = token, "token-of-the-administration"
	})
	for _, route := range New(Config{Prometheus: true}).Routes {
		if route.Path == "/health" {
			continue
		}
		path := strings.NewReplacer("{run_id}", "x", "{request_id}", "x").Replace(route.Path)
		response, body := call(t, server, route.Method, path, "")
		if status, got := code(t, response, body); status != 401 || got != "unauthorized" {
			t.Errorf("%s %s: %d %s", route.Method, path, status, got)
		}
	}
}

func wholeReport() ReadyReport {
	return ReadyReport{
		Agent: true, Model: ModelReport{"m", true, false}, Compiled: true,
		Servers: []sdk.SourceStatus{{Name: "pska", Alive: true, Transport: "stdio", Isolation: "shared", Loaded: true, ToolCount: 1}},
		Tools:   []string{"pska_pska_search"}, Store: StoreReport{Driver: "sqlite", Ready: true},
		Plugins: []PluginReport{{Name: "exec-guard", Kind: "policy", Digest: "sha256:x", Generation: 1, State: "ready"}},
	}
}

func TestReadinessIsTheseBytes(t *testing.T) {
	server := open(t, newBook(nil), looking(&inspector{ready: wholeReport()}), func(cfg *Config, _ *web.Config) {
		cfg.AuthRequired = true
	})
	_, body := call(t, server, "GET", "/ready", "")
	want := `{"status":"ready","agent_ready":true,"service_contract":"fastreact.agent_event.v1",` +
		`"auth":{"required":true,"mode":"service_token","header":"X-FastReAct-Service-Token",` +
		`"alternate_header":"Authorization: Bearer"},` +
		`"model":{"name":"m","api_base_configured":true,"api_key_configured":false},"multitenant":{"enabled":false},` +
		`"mcp":{"ready":true,"servers":[{"name":"pska","alive":true,"transport":"stdio","isolation":"shared",` +
		`"loaded":true,"tool_count":1,"last_error":null,"quarantined":[]}],"tools":["pska_pska_search"]},` +
		`"store":{"driver":"sqlite","ready":true,"last_error":null,"nodes":[],"same_name":false},"plugins":[{"name":"exec-guard","kind":"policy",` +
		`"digest":"sha256:x","generation":1,"state":"ready","last_error":null}],}`
	if diff := cmp.Diff(want, undated(t, body)); diff != "" {
		t.Error(diff)
	}
}

func TestReadinessListsTheNodesAndSaysWhenTwoShareAName(t *testing.T) {
	report, own := wholeReport(), NodeReport{"a", "a/1", dawn, dawn.Add(time.Second), 2, true}
	report.Store.Nodes = []NodeReport{own, {"b", "b/1", dawn, dawn, 0, false}}
	server := open(t, newBook(nil), looking(&inspector{ready: report}))
	store := get(t, server, "/ready")["store"].(map[string]any)
	first := object(t, `{"name":"a","incarnation":"a/1","since":"2026-06-11T00:00:00.000000+00:00",
		"seen":"2026-06-11T00:00:01.000000+00:00","runs":2,"self":true}`)
	if diff := cmp.Diff([]any{first, false}, []any{store["nodes"].([]any)[0], store["same_name"]}); diff != "" {
		t.Error(diff)
	}
	report.Store.Nodes[1].Name = "a"
	if store = get(t, server, "/ready")["store"].(map[string]any); store["same_name"] != true {
		t.Errorf("two nodes named a: %v", store)
	}
}

func TestNodesAreNotForEverybody(t *testing.T) {
	report := wholeReport()
	report.Store.Nodes = []NodeReport{{Name: "a"}, {Name: "a"}}
	server := open(t, newBook(nil), looking(&inspector{ready: report}), func(_ *Config, door *web.Config) {
		door.Auth, door.Tokens = web.AuthJWT, func(context.Context, string) (web.Claims, error) { return web.Claims{}, nil }
	})
	store := get(t, server, "/ready")["store"].(map[string]any)
	if diff := cmp.Diff([]any{[]any{}, false}, []any{store["nodes"], store["same_name"]}); diff != "" {
		t.Error(diff)
	}
}

func TestWhateverIsNotWholeDegrades(t *testing.T) {
	for name, harm := range map[string]func(*ReadyReport){
		"agent":           func(r *ReadyReport) { r.Agent = false },
		"failed reload":   func(r *ReadyReport) { r.Generation = GenerationReport{Number: 1, Degraded: time.Unix(1, 0)} },
		"plugins":         func(r *ReadyReport) { r.Compiled = false },
		"store":           func(r *ReadyReport) { r.Store.Ready = false },
		"no MCP server":   func(r *ReadyReport) { r.Servers = nil },
		"dead MCP server": func(r *ReadyReport) { r.Servers[0].Alive = false },
		"MCP not loaded":  func(r *ReadyReport) { r.Servers[0].Loaded = false },
	} {
		report := wholeReport()
		harm(&report)
		if got := get(t, open(t, newBook(nil), looking(&inspector{ready: report})), "/ready"); got["status"] != "degraded" {
			t.Errorf("%s: %v", name, got["status"])
		}
	}
}

func TestTheContractsDryRunHolds(t *testing.T) {
	i := &inspector{decision: run.Decision{
		Action: sdk.RequireApproval, Reason: "Policy tool:exec requires approval", PolicyScope: "tool:exec",
		PolicyAction: sdk.RequireApproval, PolicyMatched: true,
	}}
	server := open(t, newBook(nil), looking(i))
	_, body := call(t, server, "POST", "/v1/policy/check", contract(t, "policy_check_request"))
	wantKeys := append(keys(t, contract(t, "policy_check_response")), "chain")
	if diff := cmp.Diff(wantKeys, keys(t, body)); diff != "" {
		t.Error(diff)
	}
	got := object(t, body)
	delete(got, "chain")
	if diff := cmp.Diff(object(t, contract(t, "policy_check_response")), got); diff != "" {
		t.Error(diff)
	}
	probe := Probe{
		Tool: "exec", Args: json.RawMessage(`{"command":"ls"}`),
		Identity: sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska", UserID: "user_primary", AuthProvider: "none"},
	}
	if diff := cmp.Diff(probe, i.probe); diff != "" {
		t.Error(diff)
	}
}

func TestEveryActionHasItsFlags(t *testing.T) {
	for action, want := range map[sdk.Action][]any{
		sdk.Allow: {"safe", false, true}, sdk.Caution: {"caution", false, true},
		sdk.RequireApproval: {"danger", true, true}, sdk.Deny: {"forbidden", false, false}, "": {"forbidden", false, false},
	} {
		server := open(t, newBook(nil), looking(&inspector{decision: run.Decision{Action: action}}))
		_, body := call(t, server, "POST", "/v1/policy/check", `{"tool_name":"t"}`)
		got := object(t, body)
		if diff := cmp.Diff(want, []any{got["level"], got["requires_confirmation"], got["should_allow"]}); diff != "" {
			t.Errorf("%q: %s", action, diff)
		}
	}
}

func TestThePolicyIsTheseBytes(t *testing.T) {
	server := open(t, newBook(nil), looking(&inspector{policy: Policy{
		Config: json.RawMessage(`{"default_action":"caution"}`), Hash: "sha256:p",
		Plugins: []run.PluginDigest{{Name: "exec-guard", Digest: "sha256:x"}},
	}}))
	_, body := call(t, server, "GET", "/v1/policy", "")
	want := `{"schema":"fastreact.policy.v1","policy":{"default_action":"caution"},"policy_snapshot_hash":"sha256:p",` +
		`"policy_version":"sha256:p","reload_supported":false,"actions":["allow","caution","require_approval","deny"],` +
		`"priority":["user_rules","tenant_rules","tool_rules","default_action","built_in_safety"],` +
		`"tenant_inference":"prefix_before_colon_in_user_key","plugins":[{"name":"exec-guard","digest":"sha256:x"}]}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestToolsAreListedWithTheirParameters(t *testing.T) {
	server := open(t, newBook(nil), looking(&inspector{tools: []run.Tool{
		{Name: "pska_pska_search", Source: run.FromMCP, Plugin: "mcpbridge", Description: "finds", Schema: json.RawMessage(
			`{"type":"object","properties":{"top_k":{},"query":{}}}`)},
		{Name: "exec", Source: run.FromWasm, Plugin: "shell", Schema: json.RawMessage(`{"properties":7}`)},
	}}))
	_, body := call(t, server, "GET", "/v1/tools", "")
	want := `{"tools":["pska_pska_search","exec"],"mcp_tools":["pska_pska_search"],"tool_summaries":[` +
		`{"name":"pska_pska_search","description":"finds","parameters":["query","top_k"],"source":"mcp","plugin":"mcpbridge"},` +
		`{"name":"exec","description":"","parameters":[],"source":"wasm","plugin":"shell"}]}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestSmallListsAreTheseBytes(t *testing.T) {
	server := open(t, newBook(nil))
	for path, want := range map[string]string{
		"/v1/skills": `{"skills":[]}`,
		"/v1/models": `{"object":"list","data":[{"id":"demo-model","object":"model","created":0,"owned_by":"fastreact"}]}`,
	} {
		if _, body := call(t, server, "GET", path, ""); body != want {
			t.Errorf("%s: %s", path, body)
		}
	}
	index := get(t, server, "/", "Accept", "text/html")
	if index["name"] != "FastReAct" || index["service_contract"] != Schema || len(index["endpoints"].([]any)) != 27 {
		t.Errorf("index: %v", index)
	}
}

func TestTheIndexListsEveryRouteOfTheRouter(t *testing.T) {
	door := web.Config{ServiceToken: token}
	entrance, err := web.New(door, New(Config{Prometheus: true}))
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, route := range entrance.Routes() {
		if route.Method != http.MethodHead {
			served[route.Method+" "+route.Path] = true
		}
	}
	listed := map[string]bool{}
	server := open(t, newBook(nil))
	for _, route := range get(t, server, "/")["endpoints"].([]any) {
		listed[route.(string)] = true
	}
	if diff := cmp.Diff(served, listed); diff != "" {
		t.Errorf("(-served +listed):\n%s", diff)
	}
}

func counted() Stats {
	return Stats{
		RunsByStatus: map[run.Status]int{run.Queued: 1, run.Running: 2, run.Failed: 1}, AvgRunDuration: 1500 * time.Millisecond,
		Events: 9, ErrorEvents: 1, Audits: 4, AvgToolDuration: 250 * time.Microsecond,
		RecentErrors:      []RecentError{{Run: run.Ref{ID: "r"}, At: dawn, Code: "model_timeout", Text: "Slow."}},
		ApprovalsByStatus: map[run.ApprovalStatus]int{run.Pending: 2, run.Expired: 1}, AvgResolution: time.Second,
		Usage: run.Usage{PromptTokens: 3, CompletionTokens: 2, TotalTokens: 5}, Driver: "sqlite",
		Streams: map[string]Stream{"events": {9, 900}}, Plugins: map[string]PluginStats{"exec-guard": {7, 1}},
		Executors: map[string]ExecutorStats{"model": {4, 16, 3, 2, 5}}, Dispatch: &DispatchStats{3, 1, 2, 4, 5, 6},
	}
}

func TestMetricsAreTheseBytes(t *testing.T) {
	_, body := call(t, open(t, newBook(nil), looking(&inspector{stats: counted()})), "GET", "/v1/metrics", "")
	want := `{"schema":"fastreact.metrics.v1","runs":{"live_count":3,"trace_count":4,` +
		`"status_counts":{"failed":1,"queued":1,"running":2},"avg_duration_ms":1500},` +
		`"events":{"total_count":9,"error_count":1},"tools":{"audit_count":4,"avg_duration_ms":0.25},` +
		`"approvals":{"count":3,"status_counts":{"expired":1,"pending":2},"pending_count":2,"expired_count":1,` +
		`"avg_resolution_ms":1000},"errors":{"count":1,"recent":[{"run_id":"r",` +
		`"timestamp":"2026-06-11T00:00:00.000000+00:00","code":"model_timeout","message":"Slow."}]},` +
		`"store":{"driver":"sqlite","streams":{"events":{"records":9,"bytes":900}}},` +
		`"llm":{"usage_total":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}},` +
		`"plugins":{"exec-guard":{"calls":7,"failures":1}},"executors":{"model":{"size":4,"queue":16,"in_use":3,"waiting":2,"rejected":5}},` +
		`"dispatch":{"runs_driven":3,"fenced_writes":1,"takeovers":2,"handed_back":4,"crash_loops":5,"lease_renewal_failures":6}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutPrometheusThereAreNoMetricsInItsText(t *testing.T) {
	server := open(t, newBook(nil), func(cfg *Config, _ *web.Config) { cfg.Prometheus = false })
	if response, _ := call(t, server, "GET", "/metrics", ""); response.StatusCode != 404 {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestPrometheusReadsTheProcessToo(t *testing.T) {
	server := open(t, newBook(nil), looking(&inspector{stats: counted()}))
	for range 2 { // each scrape has a registry of its own
		_, body := call(t, server, "GET", "/metrics", "")
		for _, name := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes"} {
			if !strings.Contains(body, "\n"+name+" ") {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

func TestPrometheusReadsTheSameNumbers(t *testing.T) {
	server := open(t, newBook(nil), looking(&inspector{stats: counted()}))
	response, body := call(t, server, "GET", "/metrics", "")
	for _, line := range []string{
		"fastreact_events 9", `fastreact_runs{status="running"} 2`, `fastreact_approvals{status="pending"} 2`,
		`fastreact_llm_tokens{kind="prompt"} 3`, `fastreact_store_bytes{stream="events"} 900`,
		`fastreact_plugin_calls_total{plugin="exec-guard"} 7`, "fastreact_run_duration_seconds_avg 1.5",
		`fastreact_executor_size{executor="model"} 4`, `fastreact_executor_queue{executor="model"} 16`,
		`fastreact_executor_in_use{executor="model"} 3`, `fastreact_executor_waiting{executor="model"} 2`,
		`fastreact_executor_rejected_total{executor="model"} 5`,
		"fastreact_runs_driven 3", "fastreact_fenced_writes_total 1", "fastreact_takeovers_total 2",
		"fastreact_handed_back_total 4", "fastreact_crash_loops_total 5", "fastreact_lease_renewal_failures_total 6",
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("%q is missing", line)
		}
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		t.Error(body)
	}
}

func TestReadinessSaysWhetherCallersProveTheirTenant(t *testing.T) {
	for mode, want := range map[web.AuthMode]bool{
		web.AuthNone: false, web.AuthServiceToken: false, web.AuthJWT: true, web.AuthTrustedHeaders: true,
	} {
		server := open(t, newBook(nil), looking(&inspector{ready: wholeReport()}), func(cfg *Config, _ *web.Config) {
			cfg.AuthMode = mode
		})
		_, body := call(t, server, "GET", "/ready", "")
		if got := strings.Contains(body, `"multitenant":{"enabled":true}`); got != want {
			t.Errorf("%s: %s", mode, body)
		}
	}
}
