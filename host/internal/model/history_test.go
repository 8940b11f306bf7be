package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestEveryCallInAHistoryIsAnsweredOnce(t *testing.T) {
	asks := run.Message{Role: run.Assistant, ToolCalls: []run.ToolCall{{ID: "a", Name: "n"}, {ID: "b", Name: "n"}}}
	user := run.Message{Role: run.User, Content: "q"}
	twice := run.Message{Role: run.Assistant, ToolCalls: append(asks.ToolCalls, run.ToolCall{ID: "a", Name: "m"}, run.ToolCall{ID: "c"}, run.ToolCall{Name: "n"})}
	silent, mute := run.Message{Role: run.Assistant, Content: " \n"}, run.Message{Role: run.Assistant, ToolCalls: []run.ToolCall{{Name: "n"}}}
	result := func(id, text string) run.Message {
		return run.Message{Role: run.ToolRole, ToolCallID: id, Content: text}
	}
	for name, test := range map[string]struct{ given, want []run.Message }{
		"in order":                     {[]run.Message{user, asks, result("a", "1"), result("b", "2")}, []run.Message{user, asks, result("a", "1"), result("b", "2")}},
		"out of order":                 {[]run.Message{asks, result("b", "2"), result("a", "1"), user}, []run.Message{asks, result("a", "1"), result("b", "2"), user}},
		"one missing":                  {[]run.Message{asks, result("b", "2"), user}, []run.Message{asks, result("a", missingResult), result("b", "2"), user}},
		"result of no call":            {[]run.Message{user, result("x", "1"), asks, result("a", "1"), result("b", "2"), result("x", "3")}, []run.Message{user, asks, result("a", "1"), result("b", "2")}},
		"calls at the end":             {[]run.Message{asks}, []run.Message{asks, result("a", missingResult), result("b", missingResult)}},
		"calls that nobody can answer": {[]run.Message{twice, result("a", "1"), result("b", "2")}, []run.Message{asks, result("a", "1"), result("b", "2")}},
		"messages that say nothing":    {[]run.Message{user, silent, mute, result("", "1"), user}, []run.Message{user, user}},
		"nothing to arrange":           {[]run.Message{user}, []run.Message{user}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, orderly(test.given)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTheModelInventedIsSafeInTheHistory(t *testing.T) {
	if got := safeName("foo.bar/ü"); got != "foo_bar__" {
		t.Errorf("name %q", got)
	}
	for written, want := range map[string]string{
		"":        "{}",
		`{"a":1}`: `{"a":1}`,
		`{oops`:   `{"invalid_arguments":"{oops"}`,
		`null`:    `{"invalid_arguments":"null"}`,
		`[1]`:     `{"invalid_arguments":"[1]"}`,
	} {
		if got := safeArguments(written); got != want {
			t.Errorf("arguments %q became %q, want %q", written, got, want)
		}
	}
}

func FuzzAnyChunkIsHeardOrRefused(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"id":1,"function":{"name":"n","arguments":{}}}]},"finish_reason":"stop"}],"usage":{}}`))
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"function":{}}]}}],"error":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := &hearing{}
		if h.hear(raw) != nil {
			return
		}
		reply, failed := h.reply(Request{})
		if failed != nil {
			return
		}
		for _, call := range reply.ToolCalls {
			if call.ID == "" || call.Name == "" {
				t.Errorf("call without id or name: %+v", call)
			}
		}
	})
}
