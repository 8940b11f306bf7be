package fastreact

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// answer is the summary of a chat without a stream. The keys from "id" on are those of a chat.completion, so that
// its clients find the answer too.
type answer struct {
	Type       string         `json:"type"`
	RunID      string         `json:"run_id"`
	SessionID  string         `json:"session_id"`
	Content    string         `json:"content"`
	Events     []wireEvent    `json:"events"`
	ToolCalls  []answerCall   `json:"tool_calls"`
	DurationMS *float64       `json:"duration_ms"`
	Metadata   answerMetadata `json:"metadata"`
	Error      *string        `json:"error,omitempty"` // a failure's sentence
	ErrorCode  *string        `json:"error_code,omitempty"`

	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []answerChoice `json:"choices"`
	Usage   *run.Usage     `json:"usage"`
}

type answerCall struct {
	EventID    string          `json:"event_id"`
	ToolCallID *string         `json:"tool_call_id"`
	ToolName   *string         `json:"tool_name"`
	ToolArgs   json.RawMessage `json:"tool_args"`
}

type answerMetadata struct {
	Schema     string `json:"schema"`
	EventCount int    `json:"event_count"`
}

type answerChoice struct {
	Index        int           `json:"index"`
	Message      answerMessage `json:"message"`
	FinishReason *string       `json:"finish_reason"`
}

type answerMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (f *face) toAnswer(r run.Run, events []run.Event) answer {
	wire := answer{
		Type: "chat.completion", RunID: r.ID, SessionID: r.SessionID,
		Events: toEvents(events), ToolCalls: toAnswerCalls(events), DurationMS: durationOf(r),
		Metadata: answerMetadata{Schema, len(events)},
		ID:       completionID(r), Object: "chat.completion", Created: r.CreatedAt.Unix(), Model: f.modelOf(r),
		Usage: r.Outcome.Usage,
	}
	only := answerChoice{Message: answerMessage{Role: "assistant"}}
	switch last := lastOf(events); last.Kind {
	case run.SessionEnd:
		stop := finishReason(last)
		wire.Content = last.Content
		only.Message.Content, only.FinishReason = last.Content, &stop
		if usage := usageOf(last); usage != nil {
			wire.Usage = usage
		}
	default:
		fatal := toFatal(last)
		wire.Type, wire.Error, wire.ErrorCode = "error", &fatal.Message, &fatal.Code
	}
	wire.Choices = []answerChoice{only}
	return wire
}

func lastOf(events []run.Event) run.Event {
	if len(events) == 0 {
		return run.Event{}
	}
	return events[len(events)-1]
}

func toAnswerCalls(events []run.Event) []answerCall {
	calls := []answerCall{}
	for _, e := range events {
		if e.Kind != run.ToolCalled {
			continue
		}
		wire := toEvent(e)
		calls = append(calls, answerCall{wire.EventID, wire.ToolCallID, wire.ToolName, orObject(wire.ToolArgs)})
	}
	return calls
}
