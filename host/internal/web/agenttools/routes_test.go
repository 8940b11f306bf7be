package agenttools

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/research"
)

func TestEveryAnswerHasTheKeysOfTheContractInTheirOrder(t *testing.T) {
	b := opened(t)
	emptyResearch, err := research.Encode(research.Snapshot{State: research.Empty})
	if err != nil {
		t.Fatal(err)
	}
	const turn = `{"contract":"labfy.agent_runtime.v1","turn_id":"` + someUUID + `","objective":"look",`
	for _, c := range []struct {
		request string
		status  int
		want    string
	}{
		{"GET /api/v1/agent-tools/catalog", 200, `{"contract":"labfy.agent_tool_protocol.v1","version":1,` +
			`"transport":"HTTP_POLLING","tools":[{"tool_id":"graph.get_node","tool_version":"1","capability_id":"c",` +
			`"capability_version":"1","title":"t","description":"d","input_schema":{"type":"object"},"output_contract":"o",` +
			`"action_class":"READ_ONLY","network_contact":"NONE","authorization_requirement":"NONE","risk_class":"LOW",` +
			`"cost_class":"BOUNDED","availability":"UNAVAILABLE","unavailable_reason":"why"}]}`},
		{"POST /api/v1/agent-tools/turns", 201, `{"contract":"labfy.agent_tool_protocol.v1","turn_id":"` + someUUID +
			`","state":"AUTHORIZATION_REQUIRED","research_plan":{"state":"PREPARED"}}`},
		{"POST /api/v1/agent-tools/calls", 201, `{"contract":"labfy.agent_tool_protocol.v1","turn_id":"` + someUUID +
			`","call_id":"` + someUUID + `","result_id":"` + otherUUID + `","tool_id":"graph.get_node","state":"COMPLETED",` +
			`"replayed":false}`},
		{
			"POST /api/v1/agent-tools/turns/" + someUUID + "/resume", 200,
			`{"contract":"labfy.agent_tool_protocol.v1","turn_id":"` + someUUID + `","state":"COMPLETED"}`,
		},
		{"GET /api/v1/agent-tools/results/" + someUUID, 200, `{"result_id":"` + someUUID + `","text":"<b>&"}`},
		{"GET /api/v1/agent-tools/events?cursor=4", 200, `{"contract":"labfy.agent_tool_protocol.v1",` +
			`"transport":"HTTP_POLLING","cursor":7,"events":[{"contract":"labfy.agent_tool_protocol.v1","sequence":7,` +
			`"timestamp":"2026-03-04T05:06:07Z","kind":"agent.tool.requested","turn_id":"` + someUUID + `","call_id":null,` +
			`"object_refs":[{"object_id":"a:` + someUUID + `"}],"payload":{"tool_id":"graph.get_node"}}],"gap":true}`},
		{"GET /api/v1/research", 200, string(emptyResearch)},
		{"POST /api/v1/research/prepare", 200, string(emptyResearch)},
		{"POST /api/v1/research/grants", 200, string(emptyResearch)},
		{"POST /api/v1/research/campaigns", 200, string(emptyResearch)},
		{"POST /api/v1/research/revoke", 200, string(emptyResearch)},
		{"GET /api/v1/agent-runtime/status", 200, `{"contract":"labfy.agent_runtime.status.v1","mode":"deterministic-demo",` +
			`"configured":true,"available":true,"provider":"deterministic-demo","endpoint_kind":"none","model":null,` +
			`"reason":null}`},
		{"POST /api/v1/agent-runtime/turns", 202, turn + `"state":"QUEUED","final":null,"diagnostic":null,` +
			`"pending_call":null,"budgets":{"model_calls":1,"tool_calls":2}}`},
		{"GET /api/v1/agent-runtime/turns/" + someUUID, 200, turn + `"state":"AUTHORIZATION_REQUIRED","final":null,` +
			`"diagnostic":null,"pending_call":{"tool_id":"research.prepare","result_id":"` + otherUUID +
			`"},"budgets":{"model_calls":1,"tool_calls":2}}`},
		{"POST /api/v1/agent-runtime/turns/" + someUUID + "/resume", 200, turn + `"state":"RUNNING","final":null,` +
			`"diagnostic":null,"pending_call":null,"budgets":{"model_calls":1,"tool_calls":2}}`},
		{"POST /api/v1/agent-runtime/turns/" + someUUID + "/cancel", 200, turn + `"state":"CANCELLED","final":null,` +
			`"diagnostic":null,"pending_call":null,"budgets":{"model_calls":1,"tool_calls":2}}`},
		{"GET /api/v1/agent-runtime/events", 200, `{"contract":"labfy.agent_runtime.v1","transport":"HTTP_POLLING",` +
			`"cursor":3,"events":[{"contract":"labfy.agent_runtime.v1","sequence":3,"timestamp":"2026-03-04T05:06:07Z",` +
			`"kind":"agent.runtime.queued","turn_id":"` + someUUID + `","payload":{}}]}`},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		body := ""
		if method == "POST" {
			body = bodyFor(path)
		}
		b.hands.move(time.Second)
		got := b.send(method, path, body, b.proof()...)
		if diff := cmp.Diff(c.want, got.body); diff != "" || got.status != c.status {
			t.Errorf("%s: %d (-want +got):\n%s", c.request, got.status, diff)
		}
	}
}

func TestAReplayIsAnsweredAsOne(t *testing.T) {
	b := opened(t)
	body := strings.Replace(bodyFor(callsPath), `"idempotency_key":"`+someUUID, `"idempotency_key":"`+otherUUID, 1)
	if got := b.post(callsPath, body); got.status != 200 || !strings.Contains(got.body, `"replayed":true`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTheEngineIsGivenWhatTheBodySays(t *testing.T) {
	b := opened(t)
	call := `{"object_refs":[{"object_id":"a"},{"object_id":"b"}],"context":{"x":[1, 2]},"input":{"q" : 1.50},` +
		`"idempotency_key":"K","turn_id":"T","tool_id":"graph.get_node"}`
	for _, c := range []struct {
		path, body string
		want       []any
	}{
		{callsPath, call, []any{"call", gateway.Request{
			TurnID: "T", ToolID: "graph.get_node", Input: []byte(`{"q" : 1.50}`), Context: []byte(`{"x":[1, 2]}`),
			ObjectRefs: []string{"a", "b"}, Key: "K",
		}}},
		{"/api/v1/agent-tools/turns", `{"objective":"<script>\u202e"}`, []any{"start", "<script>\u202e"}},
		{
			"/api/v1/research/prepare", `{"selection_ids":["a","b"],"question":"q","exclusions":["e"],"idempotency_key":"K"}`,
			[]any{"prepare", "harbour", research.Preparation{
				SelectionIDs: []string{"a", "b"}, Question: "q", Exclusions: []string{"e"}, Key: "K",
			}},
		},
		{
			"/api/v1/research/grants", `{"plan_id":"p","input_revision":7,"selected_action_ids":[],"decisions":[{"decision":` +
				`"REFUSE","action_id":"a"}],"exclusions":[],"idempotency_key":"K"}`,
			[]any{"grant", "harbour", research.Decision{
				PlanID: "p", InputRevision: 7, Decisions: []research.ActionChoice{{ActionID: "a", Choice: research.Refuse}}, Key: "K",
			}},
		},
		{
			"/api/v1/research/campaigns", `{"grant_id":"g","input_revision":7,"action_ids":["a"],"idempotency_key":"K"}`,
			[]any{"campaign", "harbour", research.Launch{
				GrantID: "g", InputRevision: 7, ActionIDs: []string{"a"}, Key: "K",
			}},
		},
		{"/api/v1/research/revoke", `{"grant_id":"g"}`, []any{"revoke", "harbour", "g"}},
		{"/api/v1/agent-runtime/turns", `{"objective":"o","idempotency_key":"K"}`, []any{"runtime start", "o", "K"}},
		{"/api/v1/agent-runtime/turns", `{"objective":"o"}`, []any{"runtime start", "o", ""}},
		{"/api/v1/workspaces/observatory/activate", ``, []any{"activate", "observatory"}},
		{"/api/v1/agent-tools/turns/x/resume", ``, []any{"resume", "x"}},
	} {
		if got := b.post(c.path, c.body); got.status/100 != 2 {
			t.Errorf("%s %s: %d %s", c.path, c.body, got.status, got.body)
			continue
		}
		if diff := cmp.Diff(c.want, *b.engine.heard.Load()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}
}

func TestAnEnvelopeThatIsNotTheRoutesReachesNobody(t *testing.T) {
	b := opened(t)
	call := bodyFor(callsPath)
	with := func(old, changed string) string { return strings.Replace(call, old, changed, 1) }
	const tools, desk, runtime = "agent_tool_invalid", "research_invalid", "agent_runtime_invalid"
	for _, c := range []struct{ path, body, code string }{
		{callsPath, `{}`, tools},
		{callsPath, with(`"context":null,`, ``), tools},
		{callsPath, with(`"context":null`, `"context":null,"call_id":"x"`), tools},
		{callsPath, with(`"tool_id"`, `"Tool_ID"`), tools},
		{callsPath, with(`"tool_id":"graph.get_node"`, `"tool_id":null`), tools},
		{callsPath, with(`"tool_id":"graph.get_node"`, `"tool_id":7`), tools},
		{callsPath, with(`"context":null`, `"context":[]`), tools},
		{callsPath, with(`"context":null`, `"context":"x"`), tools},
		{callsPath, with(`"input":{"object_id":"`+someUUID+`"}`, `"input":null`), tools},
		{callsPath, with(`"input":{"object_id":"`+someUUID+`"}`, `"input":[{}]`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":null`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":{}`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":["a"]`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":[{}]`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":[null]`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":[{"object_id":null}]`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":[{"object_id":"a","x":1}]`), tools},
		{callsPath, with(`"object_refs":[]`, `"object_refs":[`+strings.Repeat(`{"object_id":"a"},`, 64)+`{"object_id":"a"}]`), tools},
		{callsPath + "?x=1", call, tools},
		{"/api/v1/agent-tools/turns", `{}`, tools},
		{"/api/v1/agent-tools/turns", `{"objective":null}`, tools},
		{"/api/v1/agent-tools/turns", `{"objective":["look"]}`, tools},
		{"/api/v1/agent-tools/turns", `{"objective":"x","x":1}`, tools},
		{"/api/v1/agent-tools/turns/x/resume", `{"objective":"x"}`, tools},
		{"/api/v1/agent-tools/turns/x/resume?force=1", `{}`, tools},
		{"/api/v1/research/prepare", `{}`, desk},
		{"/api/v1/research/prepare", strings.Replace(bodyFor("/prepare"), `"exclusions":[]`, `"exclusions":null`, 1), desk},
		{"/api/v1/research/prepare", strings.Replace(bodyFor("/prepare"), `"exclusions":[]`, `"exclusions":[null]`, 1), desk},
		{"/api/v1/research/grants", strings.Replace(bodyFor("/grants"), `"input_revision":1`, `"input_revision":1.5`, 1), desk},
		{"/api/v1/research/grants", strings.Replace(bodyFor("/grants"), `"input_revision":1`, `"input_revision":"1"`, 1), desk},
		{"/api/v1/research/grants", strings.Replace(bodyFor("/grants"), `"decisions":[{`, `"decisions":[{"x":1,`, 1), desk},
		{"/api/v1/research/grants", strings.Replace(bodyFor("/grants"), `"decisions":[{`, `"decisions":[7,{`, 1), desk},
		{"/api/v1/research/campaigns", strings.Replace(bodyFor("/campaigns"), `["a"]`, `"a"`, 1), desk},
		{"/api/v1/research/prepare", strings.Replace(bodyFor("/prepare"), `"k"`, `""`, 1), desk},
		{"/api/v1/research/grants", strings.Replace(bodyFor("/grants"), `"k"`, `""`, 1), desk},
		{"/api/v1/research/campaigns", strings.Replace(bodyFor("/campaigns"), `"k"`, `""`, 1), desk},
		{"/api/v1/research/revoke", `{"grant_id":7}`, desk},
		{"/api/v1/research/revoke?grant_id=g", `{"grant_id":"g"}`, desk},
		{"/api/v1/agent-runtime/turns", `{"objective":"o","idempotency_key":null}`, runtime},
		{"/api/v1/agent-runtime/turns", `{"objective":"o","model":"x"}`, runtime},
		{"/api/v1/agent-runtime/turns/x/cancel", `{"now":true}`, runtime},
		{"/api/v1/workspaces/x/activate", `{"folder":"/"}`, "invalid_request"},
	} {
		if got := b.post(c.path, c.body); got.status != 400 || got.code(t) != c.code {
			t.Errorf("%s %s: %d %s", c.path, c.body, got.status, got.body)
		}
	}
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
}

func TestAQueryThatIsNotTheRoutesReachesNobody(t *testing.T) {
	b := opened(t)
	for path, code := range map[string]string{
		"/api/v1/agent-tools/events?cursor=-1":                         "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=%2B1":                       "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=x":                          "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=1.0":                        "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=":                           "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=1&cursor=1":                 "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=1&x=1":                      "agent_tool_invalid",
		"/api/v1/agent-tools/events?from=1":                            "agent_tool_invalid",
		"/api/v1/agent-tools/events?%zz":                               "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=1;x=1":                      "agent_tool_invalid",
		"/api/v1/agent-tools/events?cursor=" + strings.Repeat("9", 30): "agent_tool_invalid",
		"/api/v1/agent-tools/catalog?x":                                "agent_tool_invalid",
		"/api/v1/agent-tools/results/" + someUUID + "?cursor=1":        "agent_tool_invalid",
		"/api/v1/research?workspace=x":                                 "research_invalid",
		"/api/v1/agent-runtime/status?x=1":                             "agent_runtime_invalid",
		"/api/v1/agent-runtime/events?cursor=-1":                       "agent_runtime_invalid",
		"/api/v1/session?x=1":                                          "invalid_request",
	} {
		if got := b.get(path); got.status != 400 || got.code(t) != code {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
	for _, path := range []string{"/api/v1/agent-tools/events", "/api/v1/agent-tools/events?cursor=0"} {
		b.get(path)
		if diff := cmp.Diff([]any{"events", int64(0)}, *b.engine.heard.Load()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestThereIsNothingBesideTheRoutes(t *testing.T) {
	b := opened(t)
	for request, want := range map[string]string{
		"GET /api/v1/agent-tools":                           "404 route_unknown ",
		"GET /api/v1/agent-tools/catalog/":                  "404 route_unknown ",
		"GET /api/v1//agent-tools/catalog":                  "404 route_unknown ",
		"GET /api/v1/agent-tools/x/../catalog":              "404 route_unknown ",
		"GET /api/v1/agent-tools/%63atalog":                 "404 route_unknown ",
		"GET /api/v1/agent-tools/results/":                  "404 route_unknown ",
		"GET /api/v1/agent-tools/results/a%2Fb":             "404 route_unknown ",
		"GET /api/v1/agent-tools/stream":                    "404 route_unknown ",
		"GET /favicon.ico":                                  "404 route_unknown ",
		"POST /api/v1/research/authorize":                   "404 route_unknown ",
		"POST /api/v1/agent-tools/catalog":                  "405 method_not_allowed GET, HEAD",
		"GET /api/v1/agent-tools/calls":                     "405 method_not_allowed POST",
		"HEAD /api/v1/research/grants":                      "405  POST",
		"DELETE /api/v1/agent-runtime/turns/" + someUUID:    "405 method_not_allowed GET, HEAD",
		"PUT /api/v1/workspaces/x/activate":                 "405 method_not_allowed POST",
		"PATCH /api/v1/agent-tools/turns/" + someUUID + "/": "404 route_unknown ",
	} {
		method, path, _ := strings.Cut(request, " ")
		b.hands.move(time.Second)
		got := b.send(method, path, "", b.proof()...)
		shown := strings.Join([]string{got.statusText(), got.code(t), got.header.Get("Allow")}, " ")
		if shown != want {
			t.Errorf("%s: %q, want %q", request, shown, want)
		}
	}
	if n := b.engine.calls.Load(); n != 0 {
		t.Errorf("the engine heard of %d requests", n)
	}
}

func TestHeadIsAnsweredAsGetWithoutTheBody(t *testing.T) {
	b := opened(t)
	for _, path := range append(paths("GET"), "/") {
		full, bare := b.get(path), b.send("HEAD", path, "", "Cookie", b.cookie)
		if bare.status != 200 || bare.body != "" || bare.header.Get("Content-Length") != full.header.Get("Content-Length") {
			t.Errorf("%s: %d, length %s instead of %s", path, bare.status, bare.header.Get("Content-Length"), full.header.Get("Content-Length"))
		}
	}
}
