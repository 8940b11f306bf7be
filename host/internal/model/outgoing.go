package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/fastreact/fastreact/host/internal/run"
)

// unsafeName finds what providers refuse in a tool's name.
var unsafeName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

const maxName = 64

// outgoing is the request in the library's words. The options are added by restoreOmitted.
func outgoing(request Request) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model:         request.Model,
		Stream:        true,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	for _, message := range orderly(request.Messages) {
		out.Messages = append(out.Messages, outgoingMessage(message))
	}
	for _, tool := range request.Tools {
		schema := tool.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, openai.Tool{
			Type:     openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: tool.Name, Description: tool.Description, Parameters: schema},
		})
	}
	return out
}

func outgoingMessage(message run.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{
		Role:             string(message.Role),
		Content:          message.Content,
		ReasoningContent: message.Reasoning,
		ToolCallID:       message.ToolCallID,
	}
	for _, call := range message.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: safeName(call.Name), Arguments: safeArguments(call.Arguments)},
		})
	}
	return out
}

// limitKey is the name of the token limit: models that count their reasoning have another one.
func limitKey(model string) string {
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, family) {
			return "max_completion_tokens"
		}
	}
	return "max_tokens"
}

// safeName makes a name that the model invented acceptable in the history. Names of real tools are unchanged.
func safeName(name string) string {
	name = unsafeName.ReplaceAllString(name, "_")
	return name[:min(len(name), maxName)]
}

// safeArguments returns arguments that a provider can parse in the history: what is no JSON object travels as a
// string inside one, so that the model sees what it wrote.
func safeArguments(written string) string {
	if strings.TrimSpace(written) == "" {
		return "{}"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(written), &object) == nil && object != nil {
		return strings.ToValidUTF8(written, "\uFFFD")
	}
	wrapped, err := json.Marshal(map[string]string{"invalid_arguments": written})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

// restoreOmitted adds to a marshalled request what the library's structs leave out because it is zero, and writes
// the options as they were given.
func restoreOmitted(sent []byte, asked Request) ([]byte, error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(sent, &request); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	var messages []map[string]json.RawMessage
	if err := json.Unmarshal(request["messages"], &messages); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	for _, message := range messages {
		if _, present := message["content"]; !present {
			message["content"] = emptyContent(message)
		}
	}
	parts := optionsOf(asked)
	parts["messages"] = messages
	for key, part := range parts {
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", key, err)
		}
		request[key] = raw
	}
	return json.Marshal(request)
}

func optionsOf(asked Request) map[string]any {
	options := map[string]any{}
	if asked.Options.Temperature != nil {
		options["temperature"] = *asked.Options.Temperature
	}
	if asked.Options.TopP != nil {
		options["top_p"] = *asked.Options.TopP
	}
	if asked.Options.MaxTokens != nil {
		options[limitKey(asked.Model)] = *asked.Options.MaxTokens
	}
	return options
}

// emptyContent is null beside tool calls, as vendors send it themselves, and empty text elsewhere.
func emptyContent(message map[string]json.RawMessage) json.RawMessage {
	if _, calls := message["tool_calls"]; calls {
		return json.RawMessage(`null`)
	}
	return json.RawMessage(`""`)
}
