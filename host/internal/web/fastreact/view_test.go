package fastreact

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// withUsers makes the door know users: a token is written user/tenant/role.
func withUsers(cfg *Config, door *web.Config) {
	door.Auth, door.ServiceToken, door.OperatorRole = web.AuthJWT, token, "operator"
	door.Tokens = func(_ context.Context, token string) (web.Claims, error) {
		words := strings.Split(token, "/")
		return web.Claims{Subject: words[0], Tenant: words[1], Roles: words[2:]}, nil
	}
}

func TestASummaryCountsWhatTheCallerSees(t *testing.T) {
	i := &inspector{stats: Stats{Plugins: map[string]PluginStats{"files": {Calls: 7}}, Executors: map[string]ExecutorStats{"model": {Size: 7}}}}
	server := open(t, newBook(nil), withUsers, func(cfg *Config, _ *web.Config) { cfg.Inspector = i })
	red, none := run.TenantKey("red"), run.TenantKey("")
	for bearer, want := range map[string]run.Filter{
		"red:ann/red":          {Tenant: &red, UserKey: "red:ann"},
		"red:ann/red/operator": {Tenant: &red},
		"red:ann//operator":    {Tenant: &none, UserKey: "red:ann"},
		token:                  {},
	} {
		metrics := get(t, server, "/v1/metrics", "Authorization", "Bearer "+bearer)
		if diff := cmp.Diff(want, i.counted); diff != "" {
			t.Errorf("%s (-want +got):\n%s", bearer, diff)
		}
		if plugins := metrics["plugins"].(map[string]any); (len(plugins) > 0) != (bearer == token) {
			t.Errorf("%s sees everybody's plugin calls: %v", bearer, plugins)
		}
		if executors, seen := metrics["executors"]; seen != (bearer == token) {
			t.Errorf("%s sees how full executors are: %v", bearer, executors)
		}
	}
}

func TestAUserReadsNoRulesAboutOthers(t *testing.T) {
	rules := `{"allow_all":false,"default_action":"caution","tenant_rules":{"blue":{"action":"deny"},"red":{"action":"allow"}},` +
		`"tool_rules":{"exec":"deny"},"user_rules":{"red:ann":{"action":"allow"},"red:bob":{"action":"deny"}}}`
	server := open(t, newBook(nil), withUsers, func(cfg *Config, _ *web.Config) {
		cfg.Inspector = &inspector{policy: Policy{Config: json.RawMessage(rules), Hash: "sha256:p"}}
	})
	policy := get(t, server, "/v1/policy", "Authorization", "Bearer red:ann/red")["policy"]
	want := object(t, `{"allow_all":false,"default_action":"caution","tenant_rules":{"red":{"action":"allow"}},`+
		`"tool_rules":{"exec":"deny"},"user_rules":{"red:ann":{"action":"allow"}}}`)
	if diff := cmp.Diff(any(want), policy); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	whole := get(t, server, "/v1/policy", "Authorization", "Bearer "+token)["policy"]
	if diff := cmp.Diff(any(object(t, rules)), whole); diff != "" {
		t.Errorf("the service token (-want +got):\n%s", diff)
	}
}

func TestRecordsAreRedactedByTheExactNameOfAKey(t *testing.T) {
	got, err := redact(json.RawMessage(`{"path":"p","Token":"t","chain":[{"secret":{"a":1},"tokens":2}]}`))
	if want := `{"Token":"[redacted]","chain":[{"secret":"[redacted]","tokens":2}],"path":"p"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAReviewIsShownWithoutTheDraft(t *testing.T) {
	encoded, err := web.Encode(toEvent(run.Event{
		Ref: run.Ref{ID: "run-1"}, Sequence: 6, Kind: run.AnswerReview, SessionID: "session-1",
		Metadata: json.RawMessage(`{"round":1,"stage":"verifying"}`), Memo: json.RawMessage(`{"role":"assistant","content":"draft"}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	wire := object(t, string(encoded))
	delete(wire, "timestamp")
	want := map[string]any{
		"schema": "fastreact.agent_event.v1", "type": "answer_review", "event_id": "run-1:6", "sequence": 6.0,
		"parent_event_id": "run-1:5", "run_id": "run-1", "session_id": "session-1", "content": "", "tool_name": nil,
		"tool_args": nil, "tool_call_id": nil, "duration_ms": nil, "cited_source_ids": []any{},
		"approval_request_id": nil, "metadata": map[string]any{"round": 1.0, "stage": "verifying"},
	}
	if diff := cmp.Diff(want, wire); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// A page's session opens what the page shows and lets a person do, and nothing else.
func TestAPageMayReadTracesAndAnswerApprovals(t *testing.T) {
	var opened []string
	for _, route := range New(Config{Prometheus: true}).Routes {
		if route.Page {
			opened = append(opened, route.Method+" "+route.Path)
		}
	}
	want := []string{
		"GET /v1/traces/{run_id}", "GET /v1/traces/{run_id}/events", "GET /v1/approvals",
		"POST /v1/approvals/{request_id}/approve", "POST /v1/approvals/{request_id}/deny",
	}
	if diff := cmp.Diff(want, opened); diff != "" {
		t.Error(diff)
	}
}
