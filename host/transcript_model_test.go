package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// turn is what the scripted model does when it is asked.
type turn struct {
	Text   string `json:"text"`
	Calls  []wish `json:"calls"`
	Status int    `json:"status"` // an HTTP failure instead of an answer
	Hang   bool   `json:"hang"`   // silence until the service gives up
}

// wish is a tool call that the model asks for. Arguments that are a string are sent as they are.
type wish struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

func (w wish) arguments() string {
	var text string
	if json.Unmarshal(w.Args, &text) == nil {
		return text
	}
	return string(w.Args)
}

// scriptedModel is an OpenAI-compatible streaming endpoint that plays its turns and keeps what it was asked.
type scriptedModel struct {
	*httptest.Server
	mu      sync.Mutex
	heard   chan struct{} // a value for each question
	turns   []turn
	journal []json.RawMessage
}

func newModel(t *testing.T, script []byte) *scriptedModel {
	m := &scriptedModel{heard: make(chan struct{}, 100)}
	for line := range bytes.Lines(script) {
		var next turn
		if err := json.Unmarshal(line, &next); err != nil {
			t.Fatalf("model turn %s: %v", line, err)
		}
		m.turns = append(m.turns, next)
	}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *scriptedModel) serve(w http.ResponseWriter, r *http.Request) {
	var question json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	next, known := m.next(question)
	select {
	case m.heard <- struct{}{}:
	default:
	}
	switch {
	case !known:
		http.Error(w, "the script is over", http.StatusTeapot)
	case next.Status != 0:
		http.Error(w, "scripted failure of a vendor", next.Status)
	case next.Hang:
		<-r.Context().Done()
	default:
		next.stream(w)
	}
}

func (m *scriptedModel) next(question json.RawMessage) (next turn, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.journal = append(m.journal, question)
	if len(m.turns) == 0 {
		return turn{}, false
	}
	next, m.turns = m.turns[0], m.turns[1:]
	for i, id := range shownEvidence(question) {
		next.Text = strings.ReplaceAll(next.Text, fmt.Sprintf("$EVIDENCE-%d", i+1), id)
	}
	return next, true
}

// shownEvidence lists the evidence ids that stand in a question to the model, in their order.
func shownEvidence(question []byte) []string {
	var ids []string
	for _, id := range evidenceID.FindAll(question, -1) {
		if !slices.Contains(ids, string(id)) {
			ids = append(ids, string(id))
		}
	}
	return ids
}

func (m *scriptedModel) unused() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.turns)
}

func (next turn) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, reason any) {
		chunk, _ := json.Marshal(map[string]any{
			"id": "chatcmpl-x", "object": "chat.completion.chunk", "created": 1, "model": "scripted-1",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
		})
		fmt.Fprintf(w, "data: %s\n\n", chunk)
	}
	send(map[string]any{"role": "assistant", "content": next.Text}, nil)
	finish := "stop"
	for i, call := range next.Calls {
		finish = "tool_calls"
		send(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": call.ID, "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": call.arguments()},
		}}}, nil)
	}
	send(map[string]any{}, finish)
	fmt.Fprint(w, `data: {"id":"chatcmpl-x","object":"chat.completion.chunk","created":1,"model":"scripted-1",`+
		`"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`+"\n\n")
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// asked shows each question to the model: its options, the schemas and the messages.
func (m *scriptedModel) asked(t *testing.T) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var shown bytes.Buffer
	for i, raw := range m.journal {
		var question struct {
			Model       string   `json:"model"`
			Temperature *float64 `json:"temperature"`
			TopP        *float64 `json:"top_p"`
			MaxTokens   *int     `json:"max_tokens"`
			Messages    []json.RawMessage
			Tools       []struct {
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			}
		}
		if err := json.Unmarshal(raw, &question); err != nil {
			t.Fatalf("question %s: %v", raw, err)
		}
		names := []string{}
		for _, tool := range question.Tools {
			names = append(names, tool.Function.Name)
		}
		tools, _ := json.Marshal(names)
		options, _ := json.Marshal([]any{question.Model, question.Temperature, question.TopP, question.MaxTokens})
		fmt.Fprintf(&shown, "question %d\nmodel, temperature, top_p, max_tokens: %s\ntools: %s\n", i+1, options, tools)
		for _, message := range question.Messages {
			fmt.Fprintf(&shown, "%s\n", message)
		}
	}
	return shown.Bytes()
}
