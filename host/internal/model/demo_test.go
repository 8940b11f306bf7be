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
