package chaos

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// plan is what a run does, and the question that asks for it: the scripted model keeps nothing and reads all from what
// it is sent.
type plan struct {
	run   string
	think int        // milliseconds before every answer of the model
	slow  int        // milliseconds between a tool's effect and its answer
	steps [][]string // tools; those of one step are called at once
}

// question is "plan <run> <think> <slow> charge,look pay".
func (p plan) question() string {
	words := []string{"plan", p.run, strconv.Itoa(p.think), strconv.Itoa(p.slow)}
	for _, step := range p.steps {
		words = append(words, strings.Join(step, ","))
	}
	return strings.Join(words, " ")
}

// read is the inverse of question.
func read(question string) (p plan, ok bool) {
	words := strings.Fields(question)
	if len(words) < 4 || words[0] != "plan" {
		return plan{}, false
	}
	p.run = words[1]
	p.think, _ = strconv.Atoi(words[2])
	p.slow, _ = strconv.Atoi(words[3])
	for _, step := range words[4:] {
		p.steps = append(p.steps, strings.Split(step, ","))
	}
	return p, true
}

// answerModel is an OpenAI-compatible streaming endpoint that follows the plan in the last question.
func answerModel(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct {
			Role      string            `json:"role"`
			Content   json.RawMessage   `json:"content"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"messages"`
	}
	_ = json.NewDecoder(r.Body).Decode(&asked)
	question, step := "", 0
	for _, m := range asked.Messages {
		if m.Role == "user" {
			_ = json.Unmarshal(m.Content, &question)
			step = 0
		}
		if len(m.ToolCalls) > 0 {
			step++
		}
	}
	p, ok := read(question)
	if !ok {
		http.Error(w, "no plan", http.StatusBadRequest)
		return
	}
	<-time.After(time.Duration(p.think) * time.Millisecond)
	say(w, p, step)
}

// say streams one step of a plan, or its end.
func say(w http.ResponseWriter, p plan, step int) {
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
	if step >= len(p.steps) {
		send(map[string]any{"content": "All is done."}, nil)
	} else {
		finish = "tool_calls"
		for i, tool := range p.steps[step] {
			at := fmt.Sprintf("%d.%d", step, i)
			args, _ := json.Marshal(map[string]any{"run": p.run, "step": at, "slow": p.slow})
			send(map[string]any{"tool_calls": []any{map[string]any{
				"index": i, "id": "call-" + at, "type": "function",
				"function": map[string]any{"name": "shop_" + tool, "arguments": string(args)},
			}}}, nil)
		}
	}
	send(map[string]any{}, finish)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
