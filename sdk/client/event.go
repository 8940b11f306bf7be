package client

import (
	"encoding/json"
	"time"
)

// Event is one thing that happened in a run. Types this client does not know are passed on as they are.
type Event struct {
	Schema            string          `json:"schema"`
	Type              string          `json:"type"`
	ID                string          `json:"event_id"`
	Sequence          int64           `json:"sequence"`
	RunID             string          `json:"run_id"`
	SessionID         string          `json:"session_id"`
	Timestamp         time.Time       `json:"timestamp"`
	Content           string          `json:"content"`
	ToolName          string          `json:"tool_name"`
	ToolArgs          json.RawMessage `json:"tool_args"`
	ToolCallID        string          `json:"tool_call_id"`
	DurationMS        *float64        `json:"duration_ms"`
	CitedSourceIDs    []string        `json:"cited_source_ids"`
	ApprovalRequestID string          `json:"approval_request_id"`
	Metadata          json.RawMessage `json:"metadata"`

	Raw json.RawMessage `json:"-"` // the event as the service sent it
}

// Terminal reports whether the event ends its run.
func (e Event) Terminal() bool { return e.Type == "session_end" || e.Type == "error" }

// Part returns a part of the answer, and whether the event is one. The parts of a run joined are the content of its
// session_end.
func (e Event) Part() (text string, is bool) { return e.Content, e.Type == "answer_delta" }
