package fastreact

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// keys returns the keys of a JSON object in the order they stand.
func keys(t *testing.T, raw string) []string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(raw))
	var found []string
	depth, isKey := 0, false
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1
			continue
		case string:
			if depth == 1 && isKey {
				found = append(found, token)
				isKey = false
				continue
			}
		}
		isKey = depth == 1
	}
}

func TestAnAnswerWithoutAStreamHasTheContractsKeysFirst(t *testing.T) {
	server := open(t, newBook(searched))
	response, body := call(t, server, "POST", "/v1/chat/completions", question+`,"stream":false}`)
	want := append(keys(t, contract(t, "nonstreaming_response")), "id", "object", "created", "model", "choices", "usage")
	if diff := cmp.Diff(want, keys(t, body)); diff != "" {
		t.Error(diff)
	}
	answered := object(t, body)
	if events, _ := answered["events"].([]any); len(events) != 4 {
		t.Errorf("%d events", len(events))
	}
	delete(answered, "events")
	wanted := object(t, `{"type":"chat.completion","run_id":"run-1","session_id":"s-1","content":"[The] answer",
		"tool_calls":[{"event_id":"run-1:1","tool_call_id":"call-1","tool_name":"pska_pska_search",
		"tool_args":{"query":"Question","top_k":5.0}}],"duration_ms":1234.56,
		"metadata":{"schema":"fastreact.agent_event.v1","event_count":4},"id":"chatcmpl-run-1","object":"chat.completion",
		"created":1781136000,"model":"demo-model",
		"choices":[{"index":0,"message":{"role":"assistant","content":"[The] answer"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`)
	if diff := cmp.Diff(wanted, answered); diff != "" {
		t.Error(diff)
	}
	if response.Header.Get("X-FastReAct-Run-ID") != "run-1" {
		t.Error("no run id in the header")
	}
}

func TestAFailedRunIsAnswered200WithAnError(t *testing.T) {
	server := open(t, newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.Errored, Content: "Run cancelled", Metadata: json.RawMessage(
			`{"error_type":"CancelledError","code":"cancelled","reason":"x"}`)})
		b.finish(r.Ref, run.Cancelled, run.Outcome{Error: "Run cancelled"})
	}))
	response, body := call(t, server, "POST", "/v1/chat/completions", question+`}`)
	answered := object(t, body)
	got := []any{response.StatusCode, answered["type"], answered["error"], answered["error_code"], answered["content"]}
	if diff := cmp.Diff([]any{200, "error", "Run cancelled", "cancelled", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheConfigSaysWhatAnAbsentStreamMeans(t *testing.T) {
	server := open(t, newBook(searched), func(cfg *Config, _ *web.Config) { cfg.DefaultStream = true })
	response, _ := call(t, server, "POST", "/v1/chat/completions", question+`}`)
	if diff := cmp.Diff("text/event-stream", response.Header.Get("Content-Type")); diff != "" {
		t.Error(diff)
	}
}

func TestARunIsTheseBytes(t *testing.T) {
	server := open(t, newBook(nil))
	_, body := call(t, server, "POST", "/v1/runs", strings.Replace(question, `"metadata":{`,
		`"temperature":0.50,"max_tokens":9,"metadata":{"caller":"pska","n":1.50,`, 1)+`}`)
	want := `{"type":"run","run_id":"run-1","session_id":"s-1","status":"queued",` +
		`"created_at":"2026-06-11T00:00:00.000000+00:00","started_at":null,"completed_at":null,"cancelled_at":null,` +
		`"duration_ms":null,"event_count":0,"error":null,"metadata":{"caller":"pska","identity":{"caller":"pska",` +
		`"purpose":null,"pska_user_id":"user_primary","tenant_key":"pska","system_key":null,` +
		`"user_key":"pska:user_primary","auth_provider":"none"},"n":1.50,"run_id":"run-1"},` +
		`"generation_options":{"temperature":0.5,"max_tokens":9},"attempts":0,"lease_expires_at":null,` +
		`"retry_after":null,"worker_id":null,"last_error":null,"kind":"background","phase":null,"error_code":null,` +
		`"user_key":"pska:user_primary","tenant_key":"pska","min_sequence":0}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestACancelledRunSaysWhen(t *testing.T) {
	server := open(t, newBook(nil))
	call(t, server, "POST", "/v1/runs", question+`}`)
	for range 2 {
		_, body := call(t, server, "POST", "/v1/runs/run-1/cancel", "")
		got := object(t, body)
		want := []any{"cancelled", "2026-06-11T00:00:01.234560+00:00", nil, 1.0}
		if diff := cmp.Diff(want, []any{got["status"], got["cancelled_at"], got["completed_at"], got["event_count"]}); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRunsAreListedNewestFirst(t *testing.T) {
	server := open(t, newBook(nil))
	for _, id := range []string{"a", "b", "c"} {
		call(t, server, "POST", "/v1/runs", strings.Replace(question, "run-1", id, 1)+`}`)
	}
	for path, want := range map[string][]any{
		"/v1/runs":                          {3.0, 3.0, 200.0, false, "c"},
		"/v1/runs?limit=2":                  {2.0, 3.0, 2.0, true, "c"},
		"/v1/runs?limit=5000":               {3.0, 3.0, 1000.0, false, "c"},
		"/v1/runs?status=queued&limit=1":    {1.0, 3.0, 1.0, true, "c"},
		"/v1/runs?status=failed":            {0.0, 0.0, 200.0, false, nil},
		"/v1/runs?session_id=s-1":           {3.0, 3.0, 200.0, false, "c"},
		"/v1/runs?session_id=other-session": {0.0, 0.0, 200.0, false, nil},
	} {
		list := get(t, server, path)
		got := []any{list["count"], list["total_count"], list["limit"], list["has_more"], nil}
		if runs := list["runs"].([]any); len(runs) > 0 {
			got[4] = runs[0].(map[string]any)["run_id"]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestEventsArePagedBySequence(t *testing.T) {
	server := open(t, newBook(searched))
	call(t, server, "POST", "/v1/chat/completions", question+`}`)
	for query, want := range map[string][]any{
		"":                           {4.0, 4.0, -1.0, 3.0, false},
		"?after_sequence=-1":         {4.0, 4.0, -1.0, 3.0, false},
		"?limit=2":                   {2.0, 4.0, -1.0, 1.0, true},
		"?limit=2&after_sequence=1":  {2.0, 4.0, 1.0, 3.0, false},
		"?after_sequence=3":          {0.0, 4.0, 3.0, 3.0, false},
		"?after_sequence=0&limit=1":  {1.0, 4.0, 0.0, 1.0, true},
		"?after_sequence=77&limit=1": {0.0, 4.0, 77.0, 77.0, false},
	} {
		for _, path := range []string{"/v1/runs/run-1/events", "/v1/traces/run-1/events"} {
			list := get(t, server, path+query)
			got := []any{
				list["count"], list["total_event_count"], list["after_sequence"], list["next_after_sequence"], list["has_more"],
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", path+query, diff)
			}
		}
	}
}

func TestStoredEventsHaveTheContractsKeys(t *testing.T) {
	server := open(t, newBook(searched))
	call(t, server, "POST", "/v1/chat/completions", question+`}`)
	list := get(t, server, "/v1/runs/run-1/events")
	seed := slices.Concat(keys(t, contract(t, "event")), keys(t, contract(t, "approval_request_event")), []string{"sequence"})
	slices.Sort(seed)
	want := slices.Compact(seed)
	for _, e := range list["events"].([]any) {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(e.(map[string]any)))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestATraceHoldsTheWholeAnswer(t *testing.T) {
	long := strings.Repeat("ä", 601)
	server := open(t, newBook(func(_ context.Context, b *book, r run.Run) {
		b.add(r.Ref, run.Event{Kind: run.SessionEnd, Content: long})
		b.finish(r.Ref, run.Completed, run.Outcome{
			Answer: long, ToolCalls: map[string]int{"a": 2, "b": 1}, Approvals: 1, PolicyHash: "sha256:p",
			Usage: &run.Usage{TotalTokens: 7},
		})
	}))
	call(t, server, "POST", "/v1/chat/completions", question+`}`)
	trace := get(t, server, "/v1/traces/run-1")["trace"].(map[string]any)
	delete(trace, "metadata")
	want := object(t, `{"trace_type":"chat_run","run_id":"run-1","session_id":"s-1","status":"completed",
		"created_at":"2026-06-11T00:00:00.000000+00:00","started_at":"2026-06-11T00:00:00.000000+00:00",
		"completed_at":"2026-06-11T00:00:01.234560+00:00","duration_ms":1234.56,"event_count":1,"tool_call_count":3,
		"tool_name_counts":{"a":2,"b":1},"approval_count":1,"final_content_truncated":true,"final_content_length":601,
		"llm_usage_total":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":7},"error":null,
		"generation_options":{},"policy_snapshot_hash":"sha256:p"}`)
	want["final_content"], want["final_content_preview"] = long, long[:1200]
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Error(diff)
	}
	if list := get(t, server, "/v1/traces"); list["count"] != 1.0 {
		t.Errorf("%v traces", list["count"])
	}
}

func waiting() run.Approval {
	return run.Approval{
		ID: "approval-123", Run: run.Ref{Tenant: "pska", ID: "run-1"}, SessionID: "s-1", UserKey: "pska:ann",
		ToolCallID: "call-1", ToolName: "exec", Args: json.RawMessage(`{"command":"rm test.txt"}`), ArgsDigest: "sha256:a",
		Reason: "Dangerous command requires confirmation", Status: run.Pending, Timeout: 300 * time.Second,
		Decision: run.Decision{
			Action: "require_approval", PolicyScope: "tool:exec", PolicyAction: "require_approval", PolicyMatched: true,
		},
		CreatedAt: dawn, ExpiresAt: dawn.Add(300 * time.Second),
	}
}

func atDesk(d *desk) func(*Config, *web.Config) {
	return func(cfg *Config, _ *web.Config) { cfg.Desk = d }
}

func TestAnApprovalIsTheseBytes(t *testing.T) {
	server := open(t, newBook(nil), atDesk(&desk{approval: waiting()}))
	_, body := call(t, server, "GET", "/v1/approvals/approval-123", "")
	want := `{"approval":{"request_id":"approval-123","run_id":"run-1","session_id":"s-1","user_key":"pska:ann",` +
		`"tenant_key":"pska","tool_name":"exec","tool_args":{"command":"rm test.txt"},"args_digest":"sha256:a",` +
		`"reason":"Dangerous command requires confirmation","decision_level":"danger","policy_scope":"tool:exec",` +
		`"policy_action":"require_approval","policy_matched":true,"status":"pending","approved":false,"expired":false,` +
		`"timeout_seconds":300,"created_at":"2026-06-11T00:00:00.000000+00:00",` +
		`"expires_at":"2026-06-11T00:05:00.000000+00:00","resolved_at":null,"resolved_by":null,` +
		`"resolution_reason":null,"approval_request_id":"approval-123","tool_call_id":"call-1",` +
		`"kind":"permission","choice":null}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestApprovalsAreListedByPage(t *testing.T) {
	d := &desk{approval: waiting()}
	server := open(t, newBook(nil), atDesk(d))
	list := get(t, server, "/v1/approvals?limit=5&order=asc&session_id=s&run_id=r&tool_name=exec&status=pending")
	delete(list, "approvals")
	want := object(t, `{"schema":"fastreact.approvals.v1","count":1,"total_count":1,"limit":5,"offset":0,"order":"asc",
		"next_offset":null,"has_more":false,"pending_count":1}`)
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	filter := run.ApprovalFilter{
		Status: run.Pending, SessionID: "s", RunID: "r", ToolName: "exec", Oldest: true, Limit: 5,
	}
	if diff := cmp.Diff(filter, d.filters[0]); diff != "" {
		t.Error(diff)
	}
	for _, asked := range d.filters {
		if asked.Limit == 0 {
			t.Error("every approval there is was asked for, only to count them")
		}
	}
	if list := get(t, server, "/v1/approvals?status=expired&offset=3"); list["pending_count"] != 0.0 || list["offset"] != 3.0 {
		t.Errorf("%v", list)
	}
}

func TestAnApprovalIsSettledWithOrWithoutAReason(t *testing.T) {
	for _, c := range []struct{ path, body, status, reason string }{
		{"approve", contract(t, "approve_body"), "approved", "operator approved in PSKA review UI"},
		{"approve", "", "approved", ""},
		{"deny", "{}", "denied", ""},
		{"deny", `{"reason":null}`, "denied", ""},
	} {
		d := &desk{approval: waiting()}
		server := open(t, newBook(nil), atDesk(d))
		_, body := call(t, server, "POST", "/v1/approvals/approval-123/"+c.path, c.body, "X-FastReAct-User-Key", "op")
		settled := object(t, body)
		got := []any{settled["request_id"], settled["status"], settled["approved"], d.approval.Resolution, d.answer.By}
		want := []any{"approval-123", c.status, c.status == "approved", c.reason, "op"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s: %s", c.path, c.body, diff)
		}
		if diff := cmp.Diff([]string{"request_id", "status", "approved", "approval"}, keys(t, body)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestADeskThatRefusesIsHeard(t *testing.T) {
	for _, refused := range []run.Code{run.CodeApprovalSettled, run.CodeApprovalStale, run.CodePolicyDenied} {
		d := &desk{approval: waiting(), failure: &run.Error{Code: refused, Sentence: "No."}}
		server := open(t, newBook(nil), atDesk(d))
		response, body := call(t, server, "POST", "/v1/approvals/approval-123/approve", "")
		if status, got := code(t, response, body); status != http.StatusConflict || got != string(refused) {
			t.Errorf("%s: %d %s", refused, status, got)
		}
	}
}
