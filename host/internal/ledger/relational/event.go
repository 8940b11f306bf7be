package relational

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// entry is an event on its way in: as every reader will see it, and the bytes that make it so.
type entry struct {
	event   run.Event
	payload []byte
}

// entries reads each event back from its bytes: who wrote it must not see more than who reads it later.
func entries(events []run.Event) ([]entry, error) {
	all := make([]entry, len(events))
	for i, event := range events {
		payload, err := encode(event)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", event.Kind, err)
		}
		all[i] = entry{run.Event{Kind: event.Kind}, payload}
		if err := json.Unmarshal(payload, &all[i].event); err != nil {
			return nil, fmt.Errorf("event %s: %w", event.Kind, err)
		}
	}
	return all, nil
}

const selectEvents = `
	SELECT r.session_id, r.first_seq, e.sequence, e.time, e.kind, e.payload
	FROM runs r JOIN events e ON e.run = r.place
	WHERE r.tenant = ? AND r.id = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`

// Events returns events of a run in order. A run that is unknown has none; of one that was compacted the last is there.
func (l *Ledger) Events(ctx context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error) {
	const op = "read events"
	var events []run.Event
	err := l.read(ctx, op, func(snapshot Session) error {
		var first int64
		rows, err := snapshot.Query(selectEvents, string(ref.Tenant), ref.ID, after, max(limit, 0))
		events, err = collect(rows, err, func(rows Rows) (run.Event, error) { return scanEvent(rows, ref, &first) })
		if err == nil && max(after, -1) < first-1 {
			events, err = nil, compactedError(op, first)
		}
		return err
	})
	return events, err
}

func compactedError(op string, first int64) error {
	return &run.Error{
		Code: run.CodeCompacted, Sentence: "The events asked for are not kept any more.", Op: op,
		Cause: &ledger.CompactedError{First: first},
	}
}

// scanEvent reads one event, and the sequence of the first that its run still has.
func scanEvent(rows Rows, ref run.Ref, first *int64) (run.Event, error) {
	event := run.Event{Ref: ref}
	var (
		at      int64
		payload []byte
	)
	if err := rows.Scan(&event.SessionID, first, &event.Sequence, &at, &event.Kind, &payload); err != nil {
		return run.Event{}, err
	}
	event.Time = fromMicros(at)
	return event, json.Unmarshal(payload, &event)
}
