package model_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

func demo(t *testing.T, request model.Request) model.Reply {
	t.Helper()
	reply, err := model.NewDemo().Complete(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func asked(text string, results ...string) model.Request {
	messages := []run.Message{{Role: run.ToolRole, Content: "of an earlier turn"}, {Role: run.User, Content: text}}
	for _, result := range results {
		messages = append(messages, run.Message{Role: run.ToolRole, Content: result})
	}
	return model.Request{Messages: messages}
}

func TestTheDemoLooksAQuestionUpOnce(t *testing.T) {
	request := asked("What is alpha?")
	request.Tools = []model.Tool{{Name: "pska_pska_agentic_search"}, {Name: "pska_pska_search"}}
	want := []run.ToolCall{{ID: "call_1", Name: "pska_pska_search", Arguments: `{"query":"What is alpha?","top_k":5}`}}
	if diff := cmp.Diff(want, demo(t, request).ToolCalls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestTheDemoAsksForTheToolsItIsToldTo(t *testing.T) {
	want := []run.ToolCall{
		{ID: "call_1", Name: "exec", Arguments: `{"command": "rm test.txt"}`},
		{ID: "call_2", Name: "list_files", Arguments: `{}`},
	}
	reply := demo(t, asked("/call exec {\"command\": \"rm test.txt\"}\n/call list_files"))
	if diff := cmp.Diff(want, reply.ToolCalls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if reply.FinishReason != "tool_calls" || reply.Usage.CompletionTokens == 0 {
		t.Errorf("reply %+v", reply)
	}
}

func TestTheDemoAnswersFromWhatCameBack(t *testing.T) {
	for name, test := range map[string]struct{ result, want string }{
		"a search result": {
			`{"results":[{"snippet":"Alpha is first.","citation":{"source_item_id":"src_1","title":"Greek"}}],"citations":[]}`,
			"The best match is “Greek”. It says: “Alpha is first.” [src_1]",
		},
		"nothing found": {`{"results":[],"citations":[]}`, "I found nothing about that in the selected sources."},
		"plain text":    {"a.txt\nb.txt\n", "Here is what came back: a.txt b.txt"},
		"a denied call": {"[SAFETY_DENIED] approval denied", "I could not do that."},
		"bad arguments": {`{"type":"tool_argument_issue"}`, "I could not do that."},
	} {
		t.Run(name, func(t *testing.T) {
			reply := demo(t, asked("What is alpha?", test.result))
			if diff := cmp.Diff(test.want, reply.Text); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheDemoSaysWhatItIsWhenItHasNoTool(t *testing.T) {
	reply := demo(t, asked("Hello?"))
	if !strings.Contains(reply.Text, "scripted demo model") || !strings.HasSuffix(reply.Text, "Hello?") {
		t.Errorf("answer %q", reply.Text)
	}
	if regexp.MustCompile(`(?i)fastreact|mcp|graphrag|tool`).MatchString(reply.Text) {
		t.Errorf("answer %q names machinery", reply.Text)
	}
}

func TestAScriptThatIsOverFails(t *testing.T) {
	m := model.NewScripted([]model.Turn{model.Say("one")})
	if _, err := m.Complete(t.Context(), question(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), question(), nil); !run.IsCode(err, run.CodeModelProtocol) {
		t.Errorf("got %v", err)
	}
	if len(m.Requests()) != 2 {
		t.Errorf("%d requests", len(m.Requests()))
	}
}

func TestTheDemoGathersEvidenceAndRepeatsWhatItSays(t *testing.T) {
	request := asked("diagnose the shop")
	request.Tools = []model.Tool{{Name: "query_logs"}, {Name: "query_metrics"}, {Name: "query_mysql"}}
	var names []string
	for _, call := range demo(t, request).ToolCalls {
		names = append(names, call.Name)
	}
	if diff := cmp.Diff([]string{"query_logs", "query_metrics"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	reply := demo(t, asked("diagnose the shop", "[ERROR] UNAVAILABLE: no metrics", `{"evidence":[{"evidence_id":"l-1-1","source":"logs",
		"title":"Logs: 2 matching lines in 1 file","observed_at":"2026-11-30T10:15:00Z","facts":[
		{"name":"matching lines","value":"2","unit":""},{"name":"shop.log:7","value":"ERROR pool of 8 is exhausted","unit":""}],"excerpt":""}]}`))
	want := `{"summary":"Logs: 2 matching lines in 1 file.","findings":[{"statement":` +
		`"Logs: 2 matching lines in 1 file. The newest one says “ERROR pool of 8 is exhausted”.",` +
		`"severity":"warning","evidence_ids":["l-1-1"]}],"likely_cause":"A scripted demo model cannot tell. Read what the findings quote.",` +
		`"recommended_actions":["Look at the cited evidence.","Configure a language model that draws conclusions."]}`
	if diff := cmp.Diff(want, reply.Text); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestTheDemoCallsGeneralWhatItIsToSort(t *testing.T) {
	reply := demo(t, model.Request{Messages: []run.Message{
		{Role: run.System, Content: "Answer with one word: DIAGNOSIS or GENERAL."}, {Role: run.User, Content: "What can you do?"},
	}})
	if reply.Text != "GENERAL" {
		t.Errorf("answer %q", reply.Text)
	}
}
