package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// story is what a run's events add up to. Hearing the events of a finished drive again gives the same story, which
// is why a resumed run goes on as if it never stopped.
type story struct {
	maxResult int
	started   bool
	last      int64 // sequence of the newest event
	over      bool
	steps     int            // model calls that asked for tools
	called    int            // tool calls so far
	byName    map[string]int // the same by registered name
	granted   map[string]int // calls that the gate let through when they were asked for, by registered name
	asked     int            // approvals so far
	usage     *run.Usage     // nil while no model call said
	messages  []run.Message  // of the model and the tools, after the request's own
	sources   []source       // the events that the messages came from

	opening    opening    // what the prompt begins with beside the request
	compaction compaction // what the model no longer sees
	draft      *draft     // an answer that was given and must not leave as it is; nil when there is none
	review     *review    // an answer on its way through the exit; nil while there is none
	released   string     // parts of the answer that were sent
	parts      int        // how many
	open       []openCall // calls without a result, in call order
}

// source is the event that a message came from.
type source struct {
	sequence int64
	bytes    int // of its whole content
}

// openCall is a call that has no result yet.
type openCall struct {
	event   run.Event
	wish    run.ToolCall // as the model wrote it
	ordinal int          // position among all calls of the run, from 1
	spent   int          // earlier calls of the tool that were let through
}

func newStory(maxResult int) story {
	return story{maxResult: maxResult, byName: map[string]int{}, granted: map[string]int{}}
}

func (s *story) hear(events []run.Event) error {
	for _, event := range events {
		if err := s.hearOne(event); err != nil {
			return fmt.Errorf("event %d: %w", event.Sequence, err)
		}
	}
	return nil
}

func (s *story) hearOne(event run.Event) error {
	s.last = event.Sequence
	switch event.Kind {
	case run.SessionStart:
		return s.heardStart(event)
	case run.Think:
		var message run.Message
		if err := json.Unmarshal(event.Memo, &message); err != nil {
			return fmt.Errorf("read memo: %w", err)
		}
		s.said(event, message)
	case run.ToolCalled:
		s.heardCall(event)
	case run.StepEnd:
		return s.heardStep(event)
	case run.AskUser:
		s.asked++
	case run.AnswerDelta:
		s.released += event.Content
		s.parts++
	case run.ToolResult:
		s.open = slices.DeleteFunc(s.open, func(c openCall) bool { return c.event.ToolCallID == event.ToolCallID })
		s.said(event, run.Message{
			Role: run.ToolRole, ToolCallID: event.ToolCallID, Content: preview(event, s.maxResult),
		})
	case run.Compaction:
		return s.heardCompaction(event)
	case run.AnswerReview:
		return s.heardReview(event)
	case run.SessionEnd, run.Errored:
		s.over = true
	}
	return nil
}

// said makes a message part of the conversation.
func (s *story) said(event run.Event, message run.Message) {
	s.messages = append(s.messages, message)
	s.sources = append(s.sources, source{sequence: event.Sequence, bytes: len(event.Content)})
}

func (s *story) heardCall(event run.Event) {
	s.called++
	s.byName[event.ToolName]++
	call := openCall{event: event, ordinal: s.called, spent: s.granted[event.ToolName]}
	if granted(event) {
		s.granted[event.ToolName]++
	}
	if len(s.messages) > 0 {
		for _, wish := range s.messages[len(s.messages)-1].ToolCalls {
			if wish.ID == event.ToolCallID {
				call.wish = wish
			}
		}
	}
	s.open = append(s.open, call)
}

// granted reads from a call's event whether the gate let it through, so that a resumed run counts like the first.
func granted(event run.Event) bool {
	var said struct {
		Level run.Level `json:"decision_level"`
	}
	return json.Unmarshal(event.Metadata, &said) == nil && said.Level != run.Forbidden
}

func (s *story) heardStep(event run.Event) error {
	s.steps++
	var said struct {
		Usage *run.Usage `json:"llm_usage"`
	}
	if err := json.Unmarshal(event.Metadata, &said); err != nil {
		return fmt.Errorf("read step: %w", err)
	}
	s.usage = sum(s.usage, said.Usage)
	if len(event.Memo) == 0 {
		return nil
	}
	if err := json.Unmarshal(event.Memo, &s.draft); err != nil {
		return fmt.Errorf("read draft: %w", err)
	}
	return nil
}

// sum adds what is known; two unknowns stay unknown.
func sum(a, b *run.Usage) *run.Usage {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	total := a.Add(*b)
	return &total
}
