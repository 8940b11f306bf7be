package gateway

import (
	"encoding/json"
	"slices"
	"time"
)

// Event is one step that clients see when they poll. An event is not changed once it is told.
type Event struct {
	Sequence   int64     // grows through the whole life of an instance, whatever the workspace
	At         time.Time // UTC
	Kind       Kind
	TurnID     string
	CallID     string          // empty: of no call
	ObjectRefs []string        // ids of objects
	Payload    json.RawMessage // a JSON object
}

// Page is what a client reads from its cursor on.
type Page struct {
	Cursor int64 // newest sequence of the instance: where to read on
	Events []Event
	Gap    bool // older events than these were there and are gone
}

// Events returns the active workspace's events after a cursor, oldest first. A cursor below zero is zero.
func (g *Gateway) Events(cursor int64) Page {
	g.mu.Lock()
	defer g.mu.Unlock()
	page := Page{Cursor: g.sequence, Events: []Event{}}
	if g.shelf == nil {
		return page
	}
	cursor = max(cursor, 0)
	page.Gap = cursor < g.shelf.lost
	from, _ := slices.BinarySearchFunc(g.shelf.events, cursor+1, func(e Event, sequence int64) int {
		return int(e.Sequence - sequence)
	})
	page.Events = append(page.Events, g.shelf.events[from:]...)
	return page
}

// tell adds an event to a shelf. One that is not the active one any more hears nothing: it would never be read. The
// caller holds mu.
func (g *Gateway) tell(s *shelf, event Event) {
	if s != g.shelf {
		return
	}
	g.sequence++
	event.Sequence, event.At = g.sequence, g.cfg.Clock().UTC()
	if event.ObjectRefs == nil {
		event.ObjectRefs = []string{}
	}
	if len(s.events) >= g.cfg.Limits.Events {
		s.lost = s.events[0].Sequence
		s.events = slices.Delete(s.events, 0, 1)
	}
	s.events = append(s.events, event)
}
