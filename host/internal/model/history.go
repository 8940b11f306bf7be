package model

import (
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// missingResult stands in for a result that a caller's history does not have.
const missingResult = "(no result was recorded)"

// maxID bounds an id that a model chose; longer ones are replaced.
const maxID = 64

// orderly returns the conversation as every provider accepts it: each assistant message with calls is followed by
// exactly one result per call. A result without its call, a call without its own id and a message that says nothing
// are left out: each would be refused, and again for the rest of the conversation.
func orderly(messages []run.Message) []run.Message {
	var out []run.Message
	for i := 0; i < len(messages); i++ {
		message := messages[i]
		message.ToolCalls = callable(message.ToolCalls)
		silent := len(message.ToolCalls) == 0 && strings.TrimSpace(message.Content) == ""
		if message.Role == run.ToolRole || silent {
			continue
		}
		out = append(out, message)
		if len(message.ToolCalls) == 0 {
			continue
		}
		results := map[string]run.Message{}
		for ; i+1 < len(messages) && messages[i+1].Role == run.ToolRole; i++ {
			results[messages[i+1].ToolCallID] = messages[i+1]
		}
		for _, call := range message.ToolCalls {
			result, answered := results[call.ID]
			if !answered {
				result = run.Message{Role: run.ToolRole, Content: missingResult, ToolCallID: call.ID}
			}
			out = append(out, result)
		}
	}
	return out
}

// callable are the calls that can be answered: named, and with an id that no other of the message has.
func callable(calls []run.ToolCall) []run.ToolCall {
	var kept []run.ToolCall
	taken := map[string]bool{"": true}
	for _, call := range calls {
		if !taken[call.ID] && call.Name != "" {
			kept = append(kept, call)
		}
		taken[call.ID] = true
	}
	return kept
}

// nameCalls gives every call an id that nobody in the conversation has, keeping those that are fine.
func nameCalls(calls []run.ToolCall, messages []run.Message) []run.ToolCall {
	taken := map[string]bool{}
	for _, message := range messages {
		for _, call := range message.ToolCalls {
			taken[call.ID] = true
		}
	}
	next := len(taken) + 1
	for i := range calls {
		if !plainID(calls[i].ID) || taken[calls[i].ID] {
			calls[i].ID = freshID(taken, &next)
		}
		taken[calls[i].ID] = true
	}
	return calls
}

func freshID(taken map[string]bool, next *int) string {
	for {
		id := fmt.Sprintf("call_%d", *next)
		*next++
		if !taken[id] {
			return id
		}
	}
}

// plainID reports whether an id is short printable ASCII without spaces.
func plainID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
