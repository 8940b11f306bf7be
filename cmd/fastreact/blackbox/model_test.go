package blackbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// asked is one request as the model API received it.
type asked struct {
	Model    string `json:"model"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	raw []byte
}

// toolNames lists the schemas that were shown.
func (a asked) toolNames() []string {
	names := []string{}
	for _, tool := range a.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}

// step reports how many tool results follow the last user message: 0 in a first step.
func (a asked) step() int {
	results := 0
	for _, m := range a.Messages {
		switch m.Role {
		case "user":
			results = 0
		case "tool":
			results++
		}
	}
	return results
}

// said is what the scripted model answers.
type said struct {
	text  string
	calls []wish
}

// wish is a tool call that the scripted model asks for.
type wish struct{ id, name, args string }

// call is one wish with a fixed id.
func call(name, args string) said { return said{calls: []wish{{"call_1", name, args}}} }

// scriptedModel is an OpenAI-compatible streaming endpoint that answers by a function and keeps a journal.
type scriptedModel struct {
	*httptest.Server
	mu      sync.Mutex
	journal []asked
	auth    []string
}

func newModel(t *testing.T, answer func(asked) said) *scriptedModel {
	t.Helper()
	m := &scriptedModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(w, answer(m.take(r)))
	}))
	t.Cleanup(m.Close)
	return m
}

// take reads one request and writes it into the journal.
func (m *scriptedModel) take(r *http.Request) asked {
	var request asked
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err == nil {
		_ = json.Unmarshal(raw, &request)
	}
	request.raw = raw
	m.mu.Lock()
	defer m.mu.Unlock()
	m.journal = append(m.journal, request)
	m.auth = append(m.auth, r.Header.Get("Authorization"))
	return request
}

// question is the text of the last user message.
func (a asked) question() string {
	var text string
	for _, m := range a.Messages {
		if m.Role == "user" {
			_ = json.Unmarshal(m.Content, &text)
		}
	}
	return text
}

// requests returns the journal so far.
func (m *scriptedModel) requests() []asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]asked(nil), m.journal...)
}

func stream(w http.ResponseWriter, s said) {
	w.Header().Set("Content-Type", "text/event-stream")
	finish := "stop"
	send := func(delta map[string]any, reason any) {
		chunk, _ := json.Marshal(map[string]any{
			"id": "chatcmpl-x", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
		})
		fmt.Fprintf(w, "data: %s\n\n", chunk)
	}
	send(map[string]any{"role": "assistant", "content": ""}, nil)
	if s.text != "" {
		send(map[string]any{"content": s.text}, nil)
	}
	for i, c := range s.calls {
		finish = "tool_calls"
		send(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.id, "type": "function",
			"function": map[string]any{"name": c.name, "arguments": c.args},
		}}}, nil)
	}
	send(map[string]any{}, finish)
	fmt.Fprint(w, `data: {"id":"chatcmpl-x","object":"chat.completion.chunk","created":1,"model":"scripted","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`+"\n\n")
	fmt.Fprint(w, "data: [DONE]\n\n")
}
