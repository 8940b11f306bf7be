package fastreact

import (
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// maxName bounds ids and names inside messages, in characters.
const maxName = 256

func readMessages(fields web.Fields) []run.Message {
	if !fields.Has("messages") {
		fields.Missing("messages")
		return nil
	}
	items, _ := fields.List("messages")
	messages := make([]run.Message, 0, len(items))
	for i, item := range items {
		messages = append(messages, readMessage(fields.Item("messages", i, item)))
	}
	return messages
}

func readMessage(fields web.Fields) run.Message {
	if fields.Object() == nil {
		return run.Message{}
	}
	if !fields.Has("role") {
		fields.Missing("role")
	}
	role := run.Role(fields.OneOf("role", "system", "user", "assistant", "tool", "developer"))
	message := run.Message{Role: role, Content: readContent(fields)}
	switch role {
	case "developer":
		message.Role = run.System
	case run.Assistant:
		message.Reasoning = readWhole(fields, "reasoning_content")
		message.ToolCalls = readToolCalls(fields)
	case run.ToolRole:
		message.ToolCallID = fields.Word("tool_call_id", maxName)
	}
	return message
}

// readWhole returns a text of any length: the body is bounded.
func readWhole(fields web.Fields, key string) string { return fields.Text(key, 1<<31-1) }

// readContent reads a text, or a list of parts whose texts are joined.
func readContent(fields web.Fields) string {
	parts, isList := fields.Raw("content").([]any)
	if !isList {
		return readWhole(fields, "content")
	}
	var content strings.Builder
	for i, item := range parts {
		part := fields.Item("content", i, item)
		if part.Object() == nil {
			continue
		}
		if part.Raw("type") != "text" {
			part.Fault("literal_error", "Input should be 'text'", "type")
			continue
		}
		content.WriteString(readWhole(part, "text"))
	}
	return content.String()
}

func readToolCalls(fields web.Fields) []run.ToolCall {
	items, ok := fields.List("tool_calls")
	if !ok {
		return nil
	}
	calls := make([]run.ToolCall, 0, len(items))
	for i, item := range items {
		call := fields.Item("tool_calls", i, item)
		function := call.Inside("function")
		calls = append(calls, run.ToolCall{
			ID:        call.Word("id", maxName),
			Name:      function.Word("name", maxName),
			Arguments: readWhole(function, "arguments"),
		})
	}
	return calls
}
