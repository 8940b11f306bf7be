package model

import (
	"context"
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Client is a language model. It may be used from many goroutines.
type Client interface {
	// Complete asks for the next message of a conversation. onText, when not nil, hears the text as it arrives, on
	// the caller's goroutine; what it heard is void when Complete fails. An error is a *run.Error with one of the
	// model codes, or wraps the cause of ctx when the caller left.
	Complete(ctx context.Context, request Request, onText func(string)) (Reply, error)
}

// Request is a conversation and the tools the model may ask for.
type Request struct {
	Model    string // empty means the client's own
	Messages []run.Message
	Tools    []Tool
	Options  run.ModelOptions
}

// Tool is what the model sees of a tool. Name is provider-safe: [a-zA-Z0-9_-]{1,64}.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; empty means an object without properties
}

// The finish reasons of a reply.
const (
	FinishStop   = "stop"           // the model was done
	FinishCalls  = "tool_calls"     // it asks for tools
	FinishLength = "length"         // its text was cut at the token limit; it may have none
	FinishFilter = "content_filter" // the vendor withheld the text
)

// Reply is one whole message of the model: text, calls, both, or neither where it had nothing to say.
type Reply struct {
	Text         string
	Reasoning    string         // reasoning_content, to be returned with the message
	ToolCalls    []run.ToolCall // ids unique in the conversation, names not empty; arguments may be anything
	Usage        *run.Usage     // nil when the model did not say
	Model        string         // the name the model gave itself
	FinishReason string         // one of those above
}

// Message returns the reply as a message of the conversation.
func (r Reply) Message() run.Message {
	return run.Message{Role: run.Assistant, Content: r.Text, Reasoning: r.Reasoning, ToolCalls: r.ToolCalls}
}
