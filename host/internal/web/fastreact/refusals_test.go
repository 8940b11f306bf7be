package fastreact

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	for _, known := range run.Codes() {
		got := translate(&run.Error{Code: known, Sentence: "A sentence."})
		if got.Code != string(known) || got.Sentence != "A sentence." {
			t.Errorf("%s became %v", known, got)
		}
		if got.Status == http.StatusInternalServerError && known != run.CodeInternal {
			t.Errorf("%s has no status of its own", known)
		}
		if busy := got.Status == 503 || got.Status == 429; busy != (got.RetryAfter > 0) {
			t.Errorf("%s: status %d, Retry-After %s", known, got.Status, got.RetryAfter)
		}
	}
	if got := translate(context.Canceled); got != nil {
		t.Errorf("an unknown error became %v", got)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	b := newBook(searched)
	server := open(t, b, func(_ *Config, door *web.Config) { door.MaxBody = 1 << 16 })
	call(t, server, "POST", "/v1/chat/completions", question+`}`)
	chat, good := "/v1/chat/completions", question+`}`
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     string
	}{
		{"foreign origin", "POST", chat, good, []string{"Origin", "https://evil.example"}, 403, "origin_not_allowed"},
		{"too large", "POST", chat, `{"a":"` + strings.Repeat("x", 1<<16) + `"}`, nil, 413, "request_too_large"},
		{"no JSON type", "POST", chat, good, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{"malformed", "POST", chat, `{"messages":`, nil, 422, "invalid_request"},
		{"empty", "POST", chat, "", nil, 422, "invalid_request"},
		{"no object", "POST", chat, `["q"]`, nil, 422, "invalid_request"},
		{"invalid UTF-8", "POST", chat, "{\"messages\":\"\xff\"}", nil, 422, "invalid_request"},
		{"NUL", "POST", chat, `{"messages":[{"role":"user","content":"a\u0000b"}]}`, nil, 422, "invalid_request"},
		{"no question", "POST", "/v1/runs", `{"messages":[]}`, nil, 400, "no_user_message"},
		{"known id", "POST", "/v1/runs", good, nil, 409, "run_exists"},
		{"known id in chat", "POST", chat, question + `,"stream":true}`, nil, 409, "run_exists"},
		{"unknown path", "GET", "/v1/nothing", "", nil, 404, "not_found"},
		{"trailing slash", "GET", "/v1/runs/", "", nil, 404, "not_found"},
		{"wrong method", "GET", chat, "", nil, 405, "method_not_allowed"},
		{"wrong method", "DELETE", "/v1/runs/run-1", "", nil, 405, "method_not_allowed"},
		{"unknown run", "GET", "/v1/runs/none", "", nil, 404, "not_found"},
		{"unknown run's events", "GET", "/v1/runs/none/events", "", nil, 404, "not_found"},
		{"unknown run's stream", "GET", "/v1/runs/none/stream", "", nil, 404, "not_found"},
		{"unknown run to cancel", "POST", "/v1/runs/none/cancel", "", nil, 404, "not_found"},
		{"unknown trace", "GET", "/v1/traces/none", "", nil, 404, "not_found"},
		{"unknown trace's events", "GET", "/v1/traces/none/events", "", nil, 404, "not_found"},
		{"unknown approval", "GET", "/v1/approvals/none", "", nil, 404, "not_found"},
		{"unknown approval to approve", "POST", "/v1/approvals/none/approve", "", nil, 404, "not_found"},
		{"negative limit", "GET", "/v1/runs?limit=-1", "", nil, 400, "invalid_limit"},
		{"wrong limit", "GET", "/v1/runs?limit=x", "", nil, 422, "invalid_request"},
		{"unknown status", "GET", "/v1/runs?status=done", "", nil, 422, "invalid_request"},
		{"negative event limit", "GET", "/v1/runs/run-1/events?limit=-1", "", nil, 400, "invalid_limit"},
		{"wrong cursor", "GET", "/v1/runs/run-1/events?after_sequence=x", "", nil, 422, "invalid_request"},
		{"negative cursor", "GET", "/v1/runs/run-1/events?after_sequence=-2", "", nil, 400, "invalid_after_sequence"},
		{"negative offset", "GET", "/v1/approvals?offset=-1", "", nil, 400, "invalid_offset"},
		{"unknown approval status", "GET", "/v1/approvals?status=maybe", "", nil, 422, "invalid_request"},
		{"unknown order", "GET", "/v1/approvals?order=sideways", "", nil, 400, "invalid_order"},
		{"wrong reason", "POST", "/v1/approvals/x/deny", `{"reason":1}`, nil, 422, "invalid_request"},
		{"no tool", "POST", "/v1/policy/check", `{}`, nil, 422, "invalid_request"},
		{"wrong arguments", "POST", "/v1/policy/check", `{"tool_name":"t","tool_args":[]}`, nil, 422, "invalid_request"},
	} {
		response, body := call(t, server, c.method, c.path, c.body, c.header...)
		status, got := code(t, response, body)
		if status != c.status || got != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, status, got, c.status, c.code)
		}
	}
}

func TestAValidationErrorHasTheShapeThatClientsParse(t *testing.T) {
	_, body := call(t, open(t, newBook(nil)), "POST", "/v1/runs",
		`{"messages":[{"role":"user","content":"q"}],"temperature":"hot"}`)
	want := `{"detail":[{"type":"float_type","loc":["body","temperature"],"msg":"Input should be a valid number",` +
		`"input":"hot"}],"error":{"code":"invalid_request","message":"The request is not valid."}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestAnUnknownRunHasTheContractsSentence(t *testing.T) {
	_, body := call(t, open(t, newBook(nil)), "GET", "/v1/runs/none", "")
	want := `{"detail":"Run not found","error":{"code":"not_found","message":"Run not found"}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestABusyServiceSaysWhenToComeBack(t *testing.T) {
	b := newBook(nil)
	b.refusal = &run.Error{Code: run.CodeSaturated, Sentence: "The service is busy. Try again later."}
	server := open(t, b)
	for _, path := range []string{"/v1/runs", "/v1/chat/completions"} {
		response, body := call(t, server, "POST", path, question+`,"stream":true}`)
		status, got := code(t, response, body)
		if status != 503 || got != "saturated" || response.Header.Get("Retry-After") != "2" {
			t.Errorf("%s: %d %s, Retry-After %q", path, status, got, response.Header.Get("Retry-After"))
		}
	}
}

func TestAnIdOfTwoTenantsNeedsATenant(t *testing.T) {
	server := open(t, newBook(nil))
	for _, tenant := range []string{"a", "b"} {
		body := strings.Replace(question, `"metadata":{`, `"metadata":{"tenant_key":"`+tenant+`",`, 1) + `}`
		call(t, server, "POST", "/v1/runs", body)
	}
	response, body := call(t, server, "GET", "/v1/runs/run-1", "")
	if status, got := code(t, response, body); status != 409 || got != "ambiguous_run_id" {
		t.Errorf("%d %s", status, got)
	}
	if got := get(t, server, "/v1/runs/run-1", "X-FastReAct-Tenant-Key", "b"); got["tenant_key"] != "b" {
		t.Errorf("tenant %v", got["tenant_key"])
	}
}

// A canary is planted wherever a run can hold one; it must leave through no route.
func TestNoSecretLeavesByAnyRoute(t *testing.T) {
	const canary = `ca"nary/secret-1`
	quoted, err := json.Marshal(canary)
	if err != nil {
		t.Fatal(err)
	}
	inside := strings.Trim(string(quoted), `"`)
	args := json.RawMessage(`{"k":` + string(quoted) + `,"` + strings.ReplaceAll(inside, "/", `\/`) + `":1}`)
	b := newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref,
			run.Event{Kind: run.ToolCalled, ToolName: "t", ToolArgs: args},
			run.Event{Kind: run.ToolResult, Content: string(args), Citations: []string{canary}, Metadata: args},
			run.Event{Kind: run.Errored, Content: "failed: " + canary})
		b.finish(r.Ref, run.Failed, run.Outcome{Error: canary, Answer: canary})
	})
	approval := waiting()
	approval.Args, approval.Reason, approval.ID = args, canary, "approval-1"
	server := open(t, b, atDesk(&desk{approval: approval}), looking(&inspector{
		policy: Policy{Config: args}, stats: Stats{RecentErrors: []RecentError{{Text: canary}}},
		tools: []run.Tool{{Name: "t", Description: canary}},
	}), func(_ *Config, door *web.Config) { door.Secrets = []string{canary} })
	asked := strings.Replace(question, `"metadata":{`, `"metadata":{"note":`+string(quoted)+`,`, 1)
	for _, c := range [][3]string{
		{"POST", "/v1/chat/completions", asked + `}`},
		{"POST", "/v1/chat/completions", strings.Replace(asked, "run-1", "run-2", 1) + `,"stream":true}`},
		{"POST", "/v1/runs", `{"messages":[],"temperature":` + string(quoted) + `}`},
		{"GET", "/v1/runs", ""},
		{"GET", "/v1/runs/run-1", ""},
		{"GET", "/v1/runs/run-1/events", ""},
		{"GET", "/v1/runs/run-1/stream", ""},
		{"GET", "/v1/traces", ""},
		{"GET", "/v1/traces/run-1", ""},
		{"GET", "/v1/traces/run-1/events", ""},
		{"GET", "/v1/approvals", ""},
		{"GET", "/v1/approvals/approval-1", ""},
		{"POST", "/v1/approvals/approval-1/deny", ""},
		{"GET", "/v1/policy", ""},
		{"GET", "/v1/metrics", ""},
		{"GET", "/v1/tools", ""},
	} {
		_, body := call(t, server, c[0], c[1], c[2])
		if strings.Contains(body, "nary") || !strings.Contains(body, web.Redacted) {
			t.Errorf("%s %s: %s", c[0], c[1], body)
		}
	}
}
