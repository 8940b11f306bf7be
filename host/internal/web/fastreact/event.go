package fastreact

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// wireEvent is one event of fastreact.agent_event.v1. Every key is always there, in this order.
type wireEvent struct {
	Schema         string          `json:"schema"`
	Type           string          `json:"type"`
	EventID        string          `json:"event_id"`
	Sequence       int64           `json:"sequence"`
	ParentEventID  *string         `json:"parent_event_id"`
	RunID          string          `json:"run_id"`
	SessionID      string          `json:"session_id"`
	Timestamp      string          `json:"timestamp"`
	Content        string          `json:"content"`
	ToolName       *string         `json:"tool_name"`
	ToolArgs       json.RawMessage `json:"tool_args"`
	ToolCallID     *string         `json:"tool_call_id"`
	DurationMS     *float64        `json:"duration_ms"`
	CitedSourceIDs []string        `json:"cited_source_ids"`
	ApprovalID     *string         `json:"approval_request_id"`
	Metadata       json.RawMessage `json:"metadata"`
}

func toEvent(e run.Event) wireEvent {
	wire := wireEvent{
		Schema:         Schema,
		Type:           string(e.Kind),
		EventID:        eventID(e.Ref, e.Sequence),
		Sequence:       e.Sequence,
		RunID:          e.Ref.ID,
		SessionID:      e.SessionID,
		Timestamp:      stamp(e.Time),
		Content:        e.Content,
		ToolName:       orNull(e.ToolName),
		ToolArgs:       e.ToolArgs, // null where there is no tool
		ToolCallID:     orNull(e.ToolCallID),
		CitedSourceIDs: orEmpty(e.Citations),
		ApprovalID:     orNull(e.ApprovalID),
		Metadata:       orObject(e.Metadata),
	}
	if e.Sequence > 0 {
		parent := eventID(e.Ref, e.Sequence-1)
		wire.ParentEventID = &parent
	}
	if e.Duration != nil {
		wire.DurationMS = milliseconds(*e.Duration)
	}
	return wire
}

func toEvents(events []run.Event) []wireEvent {
	wire := make([]wireEvent, len(events))
	for i, e := range events {
		wire[i] = toEvent(e)
	}
	return wire
}

func eventID(ref run.Ref, sequence int64) string {
	return ref.ID + ":" + strconv.FormatInt(sequence, 10)
}

// stamp writes a time as the seed does: RFC 3339, UTC as +00:00, with microseconds.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000-07:00") }

func stampOrNull(at *time.Time) *string {
	if at == nil {
		return nil
	}
	text := stamp(*at)
	return &text
}

func milliseconds(d time.Duration) *float64 {
	ms := float64(d.Microseconds()) / 1000
	return &ms
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
