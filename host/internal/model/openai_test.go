package model_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

func complete(t *testing.T, v *vendor, request model.Request) model.Reply {
	t.Helper()
	reply, err := v.client().Complete(t.Context(), request, nil)
	if err != nil {
		t.Fatalf("complete: %v", err)
	}
	return reply
}

func TestTextAndUsageOfAStreamAreHeardWhole(t *testing.T) {
	v := newVendor(t, sse(textChunk("Hel"), textChunk("lo"), finishChunk("stop"), usageChunk))
	var heard strings.Builder
	reply, err := v.client().Complete(t.Context(), question(), func(text string) { heard.WriteString(text) })
	if err != nil {
		t.Fatal(err)
	}
	want := model.Reply{
		Text: "Hello", Usage: &run.Usage{PromptTokens: 7, CompletionTokens: 3, TotalTokens: 10},
		Model: "m-1", FinishReason: "stop",
	}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	if heard.String() != "Hello" {
		t.Errorf("heard %q", heard.String())
	}
}

func TestTheRequestAsksForAStreamWithUsage(t *testing.T) {
	v := newVendor(t, sse(textChunk("x"), finishChunk("stop")))
	zero, high, limit := 0.0, 0.95, 50
	request := question()
	request.Options = run.ModelOptions{Temperature: &zero, TopP: &high, MaxTokens: &limit}
	request.Tools = []model.Tool{{Name: "look", Description: "d", Schema: json.RawMessage(`{"type":"object","$schema":"s","anyOf":[]}`)}}
	complete(t, v, request)
	want := `{"max_tokens":50,"messages":[{"content":"hello","role":"user"}],"model":"m","stream":true,` +
		`"stream_options":{"include_usage":true},"temperature":0,` +
		`"tools":[{"function":{"description":"d","name":"look","parameters":{"$schema":"s","anyOf":[],"type":"object"}},"type":"function"}],"top_p":0.95}`
	got, err := run.Canonical(json.RawMessage(v.bodies[0]))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if v.headers[0].Get("Authorization") != "Bearer "+canary {
		t.Errorf("authorization header is %q", v.headers[0].Get("Authorization"))
	}
}

func TestReasoningModelsGetTheirOwnTokenLimit(t *testing.T) {
	v := newVendor(t, sse(textChunk("x"), finishChunk("stop")))
	limit, warm := 50, 0.3
	request := question()
	request.Model, request.Options = "gpt-5-mini", run.ModelOptions{MaxTokens: &limit, Temperature: &warm}
	complete(t, v, request)
	if !strings.Contains(v.bodies[0], `"max_completion_tokens":50`) || strings.Contains(v.bodies[0], `"max_tokens"`) {
		t.Errorf("request: %s", v.bodies[0])
	}
}

func TestReasoningGoesBackToTheModel(t *testing.T) {
	v := newVendor(t,
		sse(`{"choices":[{"index":0,"delta":{"reasoning_content":"because"}}]}`,
			callsChunk(`{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}}`), finishChunk("tool_calls")),
		sse(textChunk("done"), finishChunk("stop")))
	request := question()
	reply := complete(t, v, request)
	if reply.Reasoning != "because" {
		t.Fatalf("reasoning %q", reply.Reasoning)
	}
	request.Messages = append(request.Messages, reply.Message(), run.Message{Role: run.ToolRole, ToolCallID: "a"})
	complete(t, v, request)
	want := `[{"content":"hello","role":"user"},` +
		`{"content":null,"reasoning_content":"because","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"look"},"id":"a","type":"function"}]},` +
		`{"content":"","role":"tool","tool_call_id":"a"}]`
	var sent struct {
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal([]byte(v.bodies[1]), &sent); err != nil {
		t.Fatal(err)
	}
	got, _ := run.Canonical(sent.Messages)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestToolCallsAreHeardInEveryDialect(t *testing.T) {
	call := func(id, name, arguments string) run.ToolCall {
		return run.ToolCall{ID: id, Name: name, Arguments: arguments}
	}
	for name, test := range map[string]struct {
		chunks []string
		want   []run.ToolCall
	}{
		"parallel with index, pieces interleaved": {
			[]string{
				callsChunk(`{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":""}}`),
				callsChunk(`{"index":1,"id":"b","type":"function","function":{"name":"two","arguments":"{\"x\""}}`),
				callsChunk(`{"index":0,"function":{"arguments":"{}"}}`),
				callsChunk(`{"index":1,"function":{"arguments":":1}"}}`),
			},
			[]run.ToolCall{call("a", "one", "{}"), call("b", "two", `{"x":1}`)},
		},
		"without index": {
			[]string{
				callsChunk(`{"id":"a","function":{"name":"one","arguments":"{\"x\""}}`),
				callsChunk(`{"function":{"arguments":":1}"}}`),
				callsChunk(`{"id":"b","function":{"name":"two","arguments":"{}"}}`),
			},
			[]run.ToolCall{call("a", "one", `{"x":1}`), call("b", "two", "{}")},
		},
		"without index and id": {
			[]string{callsChunk(`{"function":{"name":"one","arguments":"{}"}},{"function":{"name":"one","arguments":"{}"}}`)},
			[]run.ToolCall{call("call_1", "one", "{}"), call("call_2", "one", "{}")},
		},
		"one index for all": {
			[]string{
				callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}`),
				callsChunk(`{"index":0,"id":"b","function":{"name":"two","arguments":"{}"}}`),
			},
			[]run.ToolCall{call("a", "one", "{}"), call("b", "two", "{}")},
		},
		"arguments as an object": {
			[]string{callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":{"x": 1.50}}}`)},
			[]run.ToolCall{call("a", "one", `{"x": 1.50}`)},
		},
		"name and id repeated in every piece": {
			[]string{
				callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":"{"}}`),
				callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":"}"}}`),
			},
			[]run.ToolCall{call("a", "one", "{}")},
		},
		"the same id twice": {
			[]string{callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"two","arguments":"{}"}}`)},
			[]run.ToolCall{call("a", "one", "{}"), call("call_1", "two", "{}")},
		},
		"arguments that are no JSON": {
			[]string{callsChunk(`{"index":0,"id":"a","function":{"name":"one","arguments":"{oops"}}`)},
			[]run.ToolCall{call("a", "one", "{oops")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reply := complete(t, newVendor(t, sse(append(test.chunks, finishChunk("tool_calls"))...)), question())
			if diff := cmp.Diff(test.want, reply.ToolCalls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnIdOfAnEarlierStepIsNotUsedAgain(t *testing.T) {
	v := newVendor(t, sse(callsChunk(`{"index":0,"id":"call_0","function":{"name":"one","arguments":"{}"}}`), finishChunk("stop")))
	request := question()
	request.Messages = append(request.Messages,
		run.Message{Role: run.Assistant, ToolCalls: []run.ToolCall{{ID: "call_0", Name: "one", Arguments: "{}"}}},
		run.Message{Role: run.ToolRole, ToolCallID: "call_0", Content: "r"})
	reply := complete(t, v, request)
	if got := reply.ToolCalls[0].ID; got != "call_2" {
		t.Errorf("id %q", got)
	}
	if reply.FinishReason != "tool_calls" {
		t.Errorf("finish reason %q", reply.FinishReason)
	}
}

func TestTextCutAtTheTokenLimitIsAnAnswer(t *testing.T) {
	reply := complete(t, newVendor(t, sse(textChunk("half a sen"), finishChunk("length"))), question())
	if reply.Text != "half a sen" || reply.FinishReason != "length" {
		t.Errorf("reply %+v", reply)
	}
}

func TestCommentsAndEventLinesAreSkipped(t *testing.T) {
	body := ": waiting\n\n" + strings.Repeat(": waiting\n\n", 400) + "event: message\n" + frames(textChunk("x"), finishChunk("stop"))
	if reply := complete(t, newVendor(t, answer{body: body}), question()); reply.Text != "x" {
		t.Errorf("text %q", reply.Text)
	}
}

func TestAFinishReasonMakesAnAnswerWholeEvenWhenTheConnectionBreaksAfterIt(t *testing.T) {
	v := newVendor(t, answer{body: frames(textChunk("x"), finishChunk("stop")), cut: true})
	if reply := complete(t, v, question()); reply.Text != "x" || reply.Usage != nil {
		t.Errorf("reply %+v", reply)
	}
}

func TestARateLimitIsTriedAgain(t *testing.T) {
	busy := answer{status: 429, header: http.Header{"Retry-After": {"0.001"}}, body: `{"error":{"message":"slow down"}}`}
	v := newVendor(t, busy, busy, sse(textChunk("x"), finishChunk("stop")))
	if reply := complete(t, v, question()); reply.Text != "x" {
		t.Errorf("text %q", reply.Text)
	}
	if v.requests() != 3 {
		t.Errorf("%d requests", v.requests())
	}
}

func TestAnAnswerThatTheVendorWithheldSaysSoAndHasNoText(t *testing.T) {
	v := newVendor(t, sse(textChunk("half of it"), finishChunk("content_filter"), usageChunk))
	reply := complete(t, v, question())
	if reply.Text != "" || reply.FinishReason != model.FinishFilter || reply.Usage == nil {
		t.Errorf("reply %+v", reply)
	}
}

func TestAModelMayHaveNothingToSay(t *testing.T) {
	for _, finish := range []string{"stop", "length"} {
		reply := complete(t, newVendor(t, sse(textChunk(" \n"), finishChunk(finish))), question())
		if reply.FinishReason != finish || len(reply.ToolCalls) != 0 {
			t.Errorf("%s: reply %+v", finish, reply)
		}
	}
}
