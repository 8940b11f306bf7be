package run

import (
	"encoding/json"
	"time"
)

// EventKind names what happened. A name holds tool_call, tool_result or error only when it is one: clients match
// substrings.
type EventKind string

// The kinds of event.
const (
	SessionStart EventKind = "session_start"
	Think        EventKind = "think"
	ToolCalled   EventKind = "tool_call"
	StepEnd      EventKind = "step_end"
	AskUser      EventKind = "ask_user"
	ToolResult   EventKind = "tool_result"
	SessionEnd   EventKind = "session_end"
	Errored      EventKind = "error"
	Compaction   EventKind = "compaction"    // the model sees older parts shortened; the events keep everything
	AnswerDelta  EventKind = "answer_delta"  // a part of the answer, only where the request asks for parts
	ToolProgress EventKind = "tool_progress" // a sign of life of a call under way; the model never sees it
	AnswerReview EventKind = "answer_review" // an answer is looked at before it leaves, or written again; it never stands here
)

// EventKinds lists every kind; faces prove against it that they translate each one.
func EventKinds() []EventKind {
	return []EventKind{
		SessionStart, Think, ToolCalled, StepEnd, AskUser, ToolResult, SessionEnd, Errored, Compaction,
		AnswerDelta, ToolProgress, AnswerReview,
	}
}

// Terminal reports whether an event of this kind ends its run.
func (k EventKind) Terminal() bool { return k == SessionEnd || k == Errored }

// Event is one thing that happened in a run. Sequence and Time are given by the ledger at commit; a stored event
// never changes, so every reader sees the same bytes.
type Event struct {
	Ref        Ref             `json:"-"`
	SessionID  string          `json:"-"`
	Sequence   int64           `json:"-"` // from 0, without gaps
	Time       time.Time       `json:"-"` // UTC, microseconds
	Kind       EventKind       `json:"-"`
	Content    string          `json:"content,omitempty"` // whole, never cut
	ToolName   string          `json:"tool_name,omitempty"`
	ToolArgs   json.RawMessage `json:"tool_args,omitempty"` // after scope injection
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Duration   *time.Duration  `json:"duration,omitempty"`
	Citations  []string        `json:"citations,omitempty"`
	ApprovalID string          `json:"approval_id,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"` // public, a JSON object
	Memo       json.RawMessage `json:"memo,omitempty"`     // private to the agent: what a resumed run must remember
}
