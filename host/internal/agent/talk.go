package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/handle"
	"github.com/fastreact/fastreact/host/internal/run"
)

// talk is a run's whole conversation behind its system words: what the session remembers, the caller's messages, and
// what the model and the tools said since. It only grows, so that a place in it stays a place.
type talk struct {
	messages []run.Message
	question int // place of the last user message
	newest   int // place where the newest step begins; the question while there was none
	own      int // place of the first message of this run's events
	sources  []source
	ref      run.Ref
}

// talk gathers the conversation.
func (d *drive) talk() talk {
	_, asked := d.request()
	t := talk{messages: append(append([]run.Message{}, d.story.opening.Memory...), asked...)}
	t.own, t.sources, t.ref = len(t.messages), d.story.sources, d.run.Ref
	for i, message := range t.messages {
		if message.Role == run.User {
			t.question = i
		}
	}
	t.messages = append(t.messages, d.story.messages...)
	t.newest = t.question
	for i := t.own; i < len(t.messages); i++ {
		if t.messages[i].Role == run.Assistant {
			t.newest = i
		}
	}
	return t
}

// request splits the caller's messages into the system words they begin with and the rest.
func (d *drive) request() (system, rest []run.Message) {
	messages := d.run.Request.Messages
	for i, message := range messages {
		if message.Role != run.System {
			return messages[:i], messages[i:]
		}
	}
	return messages, nil
}

// compaction says what the model no longer sees of a talk. It stands in the event that tells of it, so that a resumed
// run shows its model the same.
type compaction struct {
	Limits map[int]int `json:"limits,omitempty"` // how many bytes are shown of a result, or of a call's arguments, by place
	Before int         `json:"before,omitempty"` // what stands before this place is left out, but for what is kept
	Note   string      `json:"note,omitempty"`   // what stands in its place
}

// stays reports whether a message is always shown: system words and the question are.
func (t talk) stays(place int) bool {
	return place == t.question || t.messages[place].Role == run.System
}

// keeps reports whether a message is shown.
func (t talk) keeps(c compaction, place int) bool { return place >= c.Before || t.stays(place) }

// shown is the talk as the model sees it. A call and its result are shown both or not at all.
func (t talk) shown(c compaction) []run.Message {
	var shown []run.Message
	if c.Before > 0 && c.Note != "" {
		shown = append(shown, run.Message{Role: run.User, Content: c.Note})
	}
	for place := range t.messages {
		if !t.keeps(c, place) {
			continue
		}
		shown = append(shown, t.bounded(c, place))
	}
	return shown
}

// bounded is a message with as much of it as is shown.
func (t talk) bounded(c compaction, place int) run.Message {
	message := t.messages[place]
	limit, cut := c.Limits[place]
	if !cut || longest(message) <= limit {
		return message
	}
	if message.Role == run.Assistant {
		message.ToolCalls = shortenedCalls(message.ToolCalls, limit)
		return message
	}
	if place < t.own {
		message.Content = shortened(message.Content, limit)
		return message
	}
	from := t.sources[place-t.own]
	head := strings.ToValidUTF8(message.Content[:limit], "")
	message.Content = head + readOn(len(head), from.bytes, handle.Of(t.ref, from.sequence))
	return message
}

// longest is the size of what a limit may cut: a result, or the arguments of a call.
func longest(message run.Message) int {
	if message.Role != run.Assistant {
		return len(message.Content)
	}
	most := 0
	for _, call := range message.ToolCalls {
		most = max(most, len(call.Arguments))
	}
	return most
}

// shortenedCalls are calls with the beginnings of their arguments, still objects that a vendor can read.
func shortenedCalls(calls []run.ToolCall, limit int) []run.ToolCall {
	calls = slices.Clone(calls)
	for i, call := range calls {
		if len(call.Arguments) > limit {
			calls[i].Arguments = string(object(map[string]any{"shortened": shortened(call.Arguments, limit)}))
		}
	}
	return calls
}

// tail is room for what stands below a result that is cut.
func (t talk) tail(place int) int {
	return len(readOn(len(t.messages[place].Content), 1<<30, handle.Of(t.ref, 1<<40)))
}

// shortened returns text whole when it fits, else its beginning in one line more.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := strings.ToValidUTF8(text[:limit], "")
	return fmt.Sprintf("%s\n[shortened: the first %d of %d bytes are shown]", head, len(head), len(text))
}

// sizeOf is how much text messages hold, in bytes. Tokens are the vendor's: nobody here can count them.
func sizeOf(messages []run.Message) int {
	size := 0
	for _, message := range messages {
		size += len(message.Content) + len(message.Reasoning) + len(message.ToolCallID)
		for _, call := range message.ToolCalls {
			size += len(call.ID) + len(call.Name) + len(call.Arguments)
		}
	}
	return size
}
