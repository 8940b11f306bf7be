package blackbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// searchThenAnswer is a model that searches once and then answers.
func searchThenAnswer(a asked) said {
	if a.step() == 0 {
		return call("pska_pska_search", `{"query":"Question"}`)
	}
	return said{text: "Alpha says so [src_a]."}
}

func TestChatWithAToolShowsTheEventsOfTheContractInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	all := s.stream(ask("Question", nil)).rest()
	want := []string{"session_start", "think", "tool_call", "step_end", "tool_result", "step_end", "session_end", "done"}
	if diff := cmp.Diff(want, kinds(all)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if last := all[len(all)-1]; last.raw != "event: done\ndata: [DONE]\n\n" {
		t.Errorf("last frame is %q", last.raw)
	}
	keys := []string{
		"schema", "type", "event_id", "sequence", "parent_event_id", "run_id", "session_id", "timestamp", "content",
		"tool_name", "tool_args", "tool_call_id", "duration_ms", "cited_source_ids", "approval_request_id", "metadata",
	}
	for _, f := range all[:len(all)-1] {
		if got := keysOf(t, f.data); len(got) < len(keys) || !cmp.Equal(keys, got[:len(keys)]) {
			t.Errorf("keys of %s: %v", f.event, got)
		}
	}
	result := of(all, "tool_result")[0].json(t)
	if diff := cmp.Diff([]any{"src_a"}, result["cited_source_ids"]); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
}

// keysOf returns the keys of an object in the order in which they are written.
func keysOf(t *testing.T, object string) []string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(object))
	var keys []string
	if _, err := decoder.Token(); err != nil {
		t.Fatal(err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func TestInteropTestContractOfTheSeed(t *testing.T) {
	t.Parallel()
	model := newModel(t, searchThenAnswer)
	s := start(t, model, "", "FASTREACT_SERVICE_TOKEN=canary-token-4711")
	if status, _ := s.request("GET", "/ready", nil); status != 401 {
		t.Errorf("GET /ready without a token: %d, want 401", status)
	}
	s.token = "canary-token-4711"
	status, raw := s.request("GET", "/ready", nil)
	ready := s.object(raw)
	if status != 200 || ready["mcp"].(map[string]any)["ready"] != true {
		t.Fatalf("GET /ready: %d %s", status, raw)
	}
	tools := ready["mcp"].(map[string]any)["tools"].([]any)
	if !strings.Contains(string(mustJSON(t, tools)), `"pska_pska_search"`) {
		t.Errorf("ready lists the tools %v", tools)
	}
	all := s.stream(ask("Question", nil)).rest()
	for _, kind := range []string{"session_start", "tool_call", "tool_result", "session_end", "done"} {
		if len(of(all, kind)) == 0 {
			t.Errorf("no %s in %v", kind, kinds(all))
		}
	}
	body := ask("Question", map[string]any{"stream": false})
	status, raw = s.request("POST", "/v1/chat/completions", body)
	whole := s.object(raw)
	if status != 200 || whole["run_id"] == "" || whole["session_id"] == "" || whole["type"] != "chat.completion" {
		t.Errorf("whole answer: %d %s", status, raw)
	}
	if !strings.Contains(string(raw), "src_a") || whole["content"] != "Alpha says so [src_a]." {
		t.Errorf("the answer has no evidence: %s", raw)
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEveryReaderGetsTheSameBytes(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	live := s.stream(ask("Question", map[string]any{"metadata": map[string]any{"run_id": "run-same"}})).rest()
	late := newFrames(t, s.open("GET", "/v1/runs/run-same/stream", nil).Body).rest()
	if diff := cmp.Diff(raws(live), raws(late)); diff != "" {
		t.Errorf("late reader (-live +late):\n%s", diff)
	}
	resumed := newFrames(t, s.open("GET", "/v1/runs/run-same/stream", nil, "Last-Event-ID", "2").Body).rest()
	if diff := cmp.Diff(raws(live)[3:], raws(resumed)); diff != "" {
		t.Errorf("resumed reader (-live +resumed):\n%s", diff)
	}
}

func raws(all []frame) []string {
	var raw []string
	for _, f := range all {
		raw = append(raw, f.raw)
	}
	return raw
}

func TestToolPolicyNoneShowsAndRunsNothing(t *testing.T) {
	t.Parallel()
	model := newModel(t, searchThenAnswer)
	s := start(t, model, "")
	all := s.stream(ask("Question", map[string]any{"tool_policy": map[string]any{"mode": "none"}})).rest()
	for _, request := range model.requests() {
		if names := request.toolNames(); len(names) > 0 {
			t.Errorf("the model saw %v", names)
		}
	}
	result := of(all, "tool_result")[0].json(t)
	if want := "[TOOL_POLICY_DENIED] run tool_policy mode=none disables all tools"; result["content"] != want {
		t.Errorf("result is %q, want %q", result["content"], want)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}

func TestToolPolicyAllowlistShowsAndRunsOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	model := newModel(t, searchThenAnswer)
	s := start(t, model, "")
	policy := map[string]any{"mode": "allowlist", "allowed_tools": []any{"pska_bump"}}
	all := s.stream(ask("Question", map[string]any{"tool_policy": policy})).rest()
	for _, request := range model.requests() {
		if diff := cmp.Diff([]string{"pska_bump"}, request.toolNames()); diff != "" {
			t.Errorf("visible tools (-want +got):\n%s", diff)
		}
	}
	result := of(all, "tool_result")[0].json(t)
	want := "[TOOL_POLICY_DENIED] tool 'pska_pska_search' is not in run tool_policy allowed_tools"
	if result["content"] != want {
		t.Errorf("result is %q, want %q", result["content"], want)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}

func TestUnknownToolPolicyModeIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	status, raw := s.request("POST", "/v1/chat/completions", ask("Q", map[string]any{"tool_policy": map[string]any{"mode": "everything"}}))
	if status != 422 {
		t.Errorf("status %d, want 422: %s", status, raw)
	}
}
