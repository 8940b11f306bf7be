package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestAPlainAnswerStandsInTheStreamOnce(t *testing.T) {
	usage := &run.Usage{PromptTokens: 7, CompletionTokens: 3, TotalTokens: 10}
	w := newWorld(t, []model.Turn{{Reply: model.Reply{Text: "Alpha is first.", Usage: usage, Model: "m-1"}}})
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	events := w.events(t)
	want := []string{"session_start   | What is alpha?", "step_end   |", "session_end   | Alpha is first."}
	if diff := cmp.Diff(want, lines(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	counted := map[string]any{"prompt_tokens": 7.0, "completion_tokens": 3.0, "total_tokens": 10.0}
	step := map[string]any{"has_tool_calls": false, "llm_usage": counted, "model": "m-1"}
	if diff := cmp.Diff(step, metadata(t, events[1])); diff != "" {
		t.Errorf("step (-want +got):\n%s", diff)
	}
	end := metadata(t, events[2])
	delete(end, "timing")
	if diff := cmp.Diff(map[string]any{"llm_usage_total": counted, "stop_reason": "stop"}, end); diff != "" {
		t.Errorf("end (-want +got):\n%s", diff)
	}
}

func TestTheOutcomeIsKeptBesideTheRun(t *testing.T) {
	usage := &run.Usage{PromptTokens: 7, CompletionTokens: 3, TotalTokens: 10}
	ask := model.Ask(wish("c1", "look", `{}`), wish("c2", "look", `{}`))
	ask.Reply.Usage = usage
	w := newWorld(t, []model.Turn{ask, {Reply: model.Reply{Text: "Done.", Usage: usage}}}, func(s *setting) {
		s.agent.PolicyHash = func() string { return "sha256:policy" }
	})
	w.drive(t)
	want := run.Outcome{
		Answer: "Done.", StopReason: "stop", ToolCalls: map[string]int{"look": 2}, PolicyHash: "sha256:policy",
		Usage: &run.Usage{PromptTokens: 14, CompletionTokens: 6, TotalTokens: 20},
	}
	r := w.run(t)
	if diff := cmp.Diff(want, r.Outcome); diff != "" || r.Status != run.Completed {
		t.Errorf("status %s, outcome (-want +got):\n%s", r.Status, diff)
	}
}

func TestTheStartSaysWhatTheRunMaySee(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")}, func(s *setting) {
		s.request.Skills = &[]string{"pska_digest"}
		s.request.ToolPolicy = run.ToolPolicy{
			Mode: run.Allowlist, Allowed: []string{"find", "gone"},
			Scope: &sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"alpha"}},
		}
	})
	w.drive(t)
	want := map[string]any{
		"skills": []any{}, "ignored_skills": []any{"pska_digest"}, "visible_tools": []any{"find"},
		"tool_policy": map[string]any{
			"mode": "allowlist", "allowed_tools": []any{"find", "gone"},
			"scope": map[string]any{"mode": "hard", "scope_mode": "hard", "knowledge_base_ids": []any{"alpha"}},
		},
	}
	if diff := cmp.Diff(want, metadata(t, w.events(t)[0])); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
	if tools := w.model.Requests()[0].Tools; len(tools) != 1 || tools[0].Name != "find" {
		t.Errorf("the model saw %+v", tools)
	}
}

func TestTheModelHearsTheSystemTheCallerAndTheTools(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{"a":1}`)), model.Say("Done.")}, func(s *setting) {
		s.agent.System = "You work for the archive."
	})
	w.drive(t)
	heard := w.model.Requests()[1].Messages
	if !strings.HasPrefix(heard[0].Content, "You work for the archive.\n\n") || !strings.Contains(heard[0].Content, "never mentions") {
		t.Errorf("system words %q", heard[0].Content)
	}
	want := []run.Message{
		{Role: run.System, Content: "Cite."},
		{Role: run.User, Content: "What is alpha?"},
		{Role: run.Assistant, ToolCalls: []run.ToolCall{wish("c1", "look", `{"a":1}`)}},
		{Role: run.ToolRole, ToolCallID: "c1", Content: `look says {"a":1}`},
	}
	if diff := cmp.Diff(want, heard[1:]); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestParallelCallsAreAnsweredInCallOrder(t *testing.T) {
	ask := model.Ask(wish("c1", "look", `{"a":1}`), wish("c2", "write", `{}`), wish("c3", "look", ``))
	w := newWorld(t, []model.Turn{ask, model.Say("Done.")})
	w.drive(t)
	want := []string{
		"session_start   | What is alpha?",
		"think   | Using look, write tools",
		"tool_call look c1 | Calling look", "tool_call write c2 | Calling write", "tool_call look c3 | Calling look",
		"step_end   |",
		`tool_result look c1 | look says {"a":1}`, `tool_result write c2 | write says {}`, `tool_result look c3 | look says {}`,
		"step_end   |", "session_end   | Done.",
	}
	if diff := cmp.Diff(want, lines(w.events(t))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestACallAndItsResultCarryTheDecision(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`)), model.Say("Done.")}, func(s *setting) {
		s.rules = map[string]any{"look": "allow"}
	})
	w.drive(t)
	decided := map[string]any{
		"action": "calling", "decision_level": "safe", "policy_scope": "tool:look", "policy_action": "allow", "policy_matched": true,
	}
	if diff := cmp.Diff(decided, metadata(t, only(w.events(t), run.ToolCalled)[0])); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	decided["action"], decided["approved"], decided["request_id"], decided["is_error"] = "result", nil, nil, false
	if diff := cmp.Diff(decided, metadata(t, only(w.events(t), run.ToolResult)[0])); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestTheScopeShowsInTheArgumentsThatRun(t *testing.T) {
	asked := wish("c1", "find", `{"query":"q","knowledge_base_ids":["beta"]}`)
	w := newWorld(t, []model.Turn{model.Ask(asked), model.Say("Done.")}, func(s *setting) {
		s.request.ToolPolicy.Scope = &sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"alpha"}}
		s.tools.answers["find"] = func(context.Context, sdk.Call) (sdk.Result, error) {
			return sdk.Result{Content: `{"results":[]}`}, nil
		}
	})
	w.drive(t)
	call := only(w.events(t), run.ToolCalled)[0]
	if got := string(call.ToolArgs); !strings.Contains(got, `"knowledge_base_ids":["alpha"]`) || strings.Contains(got, "beta") {
		t.Errorf("arguments %s", got)
	}
	fields := metadata(t, call)
	want := map[string]any{
		"mode": nil, "allowed_tools": []any{},
		"scope": map[string]any{"mode": "hard", "scope_mode": "hard", "knowledge_base_ids": []any{"alpha"}},
	}
	if diff := cmp.Diff(want, fields["tool_policy"]); diff != "" || fields["tool_policy_scope_applied"] != true {
		t.Errorf("metadata %v (-want +got):\n%s", fields, diff)
	}
	if diff := cmp.Diff([]any{"knowledge_base_ids"}, fields["scope_narrowed"]); diff != "" {
		t.Errorf("narrowed (-want +got):\n%s", diff)
	}
	if got := string(w.tools.calls[0].Args); got != string(call.ToolArgs) {
		t.Errorf("shown %s, ran %s", call.ToolArgs, got)
	}
}

func TestADeniedCallIsAnsweredAndTheLoopGoesOn(t *testing.T) {
	ask := model.Ask(wish("c1", "write", `{}`), wish("c2", "nowhere", `{}`))
	w := newWorld(t, []model.Turn{ask, model.Say("Done.")}, func(s *setting) {
		s.rules = map[string]any{"write": "deny"}
	})
	w.drive(t)
	results := only(w.events(t), run.ToolResult)
	want := []string{
		"tool_result write c1 | [SAFETY_BLOCKED] Policy tool:write denies tool",
		"tool_result nowhere c2 | [ERROR] Tool 'nowhere' not found",
	}
	if diff := cmp.Diff(want, lines(results)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if code := metadata(t, results[0])["denial_code"]; code != "policy_denied" {
		t.Errorf("denial code %v", code)
	}
	if len(w.tools.ran()) != 0 {
		t.Errorf("ran %v", w.tools.ran())
	}
}

func TestMalformedArgumentsNeverRunATool(t *testing.T) {
	for name, arguments := range map[string]string{
		"cut": `{"a":`, "a list": `[1]`, "two objects": `{} {}`, "a raw NUL": "{\"a\":\"\x00\"}", "not UTF-8": "{\"a\":\"\xff",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", arguments)), model.Say("Done.")})
			w.drive(t)
			call := only(w.events(t), run.ToolCalled)[0]
			if string(call.ToolArgs) != "{}" || metadata(t, call)["raw_arguments_preview"] == nil {
				t.Errorf("call %s %s", call.ToolArgs, call.Metadata)
			}
			var issue struct {
				Type string `json:"type"`
				Code string `json:"error_code"`
			}
			result := only(w.events(t), run.ToolResult)[0]
			if err := json.Unmarshal([]byte(result.Content), &issue); err != nil {
				t.Fatalf("%v: %s", err, result.Content)
			}
			if issue.Type != "tool_argument_issue" || issue.Code != "invalid_tool_args" || len(w.tools.ran()) != 0 {
				t.Errorf("issue %+v, ran %v", issue, w.tools.ran())
			}
		})
	}
}

func TestARunEndsAtItsIterationLimit(t *testing.T) {
	turn := func(id string) model.Turn { return model.Ask(wish(id, "look", `{}`)) }
	w := newWorld(t, []model.Turn{turn("c1"), turn("c2"), turn("c3")}, func(s *setting) { s.agent.MaxIterations = 2 })
	w.drive(t)
	events := w.events(t)
	if reason := metadata(t, events[len(events)-1])["stop_reason"]; reason != "max_iterations" {
		t.Errorf("stop reason %v", reason)
	}
	if w.run(t).Status != run.Completed || len(w.tools.ran()) != 2 {
		t.Errorf("status %s, ran %v", w.run(t).Status, w.tools.ran())
	}
}

func TestCallsBeyondTheLimitAreAnsweredAndEndTheRun(t *testing.T) {
	ask := model.Ask(wish("c1", "look", `{}`), wish("c2", "look", `{}`), wish("c3", "look", `{}`))
	w := newWorld(t, []model.Turn{ask, model.Say("never said")}, func(s *setting) {
		s.agent.MaxToolCalls = 2
	})
	w.drive(t)
	events := w.events(t)
	want := []string{
		"tool_result look c1 | look says {}", "tool_result look c2 | look says {}",
		"tool_result look c3 | [ERROR] Limit of 2 tool calls reached",
	}
	if diff := cmp.Diff(want, lines(only(events, run.ToolResult))); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if reason := metadata(t, events[len(events)-1])["stop_reason"]; reason != "max_tool_calls" {
		t.Errorf("stop reason %v", reason)
	}
}

func TestAModelThatFailsFailsTheRun(t *testing.T) {
	broken := &run.Error{
		Code: run.CodeModelUnavailable, Sentence: "The language model cannot be reached.", Op: "complete",
		Cause: errors.New("vendor words"),
	}
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`)), {Err: broken}})
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	events := w.events(t)
	last := events[len(events)-1]
	want := map[string]any{"error_type": "ModelError", "code": "model_unavailable", "reason": "model_unavailable"}
	if diff := cmp.Diff(want, metadata(t, last)); diff != "" || last.Content != "The language model cannot be reached." {
		t.Errorf("last %s (-want +got):\n%s", last.Content, diff)
	}
	if r := w.run(t); r.Status != run.Failed || r.Outcome.ErrorCode != "model_unavailable" {
		t.Errorf("status %s, outcome %+v", r.Status, r.Outcome)
	}
}

func TestTheModelSeesALongResultCutAndTheEventWhole(t *testing.T) {
	long := strings.Repeat("ä", 100)
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`)), model.Say("Done.")}, func(s *setting) {
		s.agent.MaxResultBytes = 51
		s.tools.answers["look"] = func(context.Context, sdk.Call) (sdk.Result, error) { return sdk.Result{Content: long}, nil }
	})
	w.drive(t)
	if got := only(w.events(t), run.ToolResult)[0].Content; got != long {
		t.Errorf("event has %d bytes", len(got))
	}
	heard := w.model.Requests()[1].Messages
	want := strings.Repeat("ä", 25) + "\n[cut: the first 50 of 200 bytes are shown; where read_result is among your tools, it reads on: " +
		`handle "run-1:4", offset 50]`
	if diff := cmp.Diff(want, heard[len(heard)-1].Content); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

func TestALaterClaimStopsTheEarlierOne(t *testing.T) {
	var w *world
	steal := func(ctx context.Context) error {
		w.ahead.Add(int64(2 * lease))
		_, err := w.Claim(ctx, ledger.Claimant{Owner: "thief", Kind: run.Chat, Lease: lease})
		return err
	}
	turn := model.Say("too late")
	turn.Wait = steal
	w = newWorld(t, []model.Turn{turn})
	_, err := w.agent.Drive(t.Context(), w.run(t))
	if !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("got %v", err)
	}
	if got := len(w.events(t)); got != 1 {
		t.Errorf("%d events", got)
	}
}

func TestACallOutsideTheScopeIsAnsweredWithoutAPerson(t *testing.T) {
	asked := wish("c1", "find", `{"source_item_ids":["src_9"]}`)
	w := newWorld(t, []model.Turn{model.Ask(asked), model.Say("Done.")}, func(s *setting) {
		s.rules = map[string]any{"find": "require_approval"}
		s.request.ToolPolicy.Scope = &sdk.Scope{Mode: sdk.Hard, SourceItemIDs: []string{"src_1"}}
	})
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	result := only(w.events(t), run.ToolResult)[0]
	if !strings.Contains(result.Content, "tool_scope_empty") || metadata(t, result)["tool_policy_scope_empty"] != true {
		t.Errorf("result %s %s", result.Content, result.Metadata)
	}
	if len(w.tools.ran()) != 0 {
		t.Errorf("ran %v", w.tools.ran())
	}
}

func TestAResultThatIsNotUTF8IsMadeReadable(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`)), model.Say("Done.")}, func(s *setting) {
		s.tools.answers["look"] = func(context.Context, sdk.Call) (sdk.Result, error) { return sdk.Result{Content: "a\xffb"}, nil }
	})
	w.drive(t)
	if got := only(w.events(t), run.ToolResult)[0].Content; got != "a\uFFFDb" {
		t.Errorf("content %q", got)
	}
}
