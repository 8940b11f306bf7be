package localagent

import (
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// ring keeps the newest events. The runtime's lock guards it.
type ring struct {
	most   int
	newest int64 // sequence; goes on when events are forgotten
	lost   int64 // the newest sequence that gave way to a newer one
	events []Event
}

// add gives an event its sequence.
func (g *ring) add(e Event) {
	g.newest++
	e.Sequence = g.newest
	if len(g.events) == g.most {
		g.lost = g.events[0].Sequence
		g.events = slices.Delete(g.events, 0, 1)
	}
	g.events = append(g.events, e)
}

// after returns what is newer than a cursor.
func (g *ring) after(cursor int64) Page {
	page := Page{Cursor: g.newest, Events: []Event{}, Gap: cursor < g.lost}
	for _, e := range g.events {
		if e.Sequence > cursor {
			page.Events = append(page.Events, e)
		}
	}
	return page
}

// forget drops every event. What comes next has a higher sequence than they had.
func (g *ring) forget() { g.events, g.lost = nil, 0 }

// payload is what an event says beside its kind. It holds no text of a model or a tool.
type payload struct {
	Objective  string `json:"objective,omitempty"`
	ToolID     string `json:"tool_id,omitempty"`
	ResultID   string `json:"result_id,omitempty"`
	State      string `json:"state,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Diagnostic string `json:"diagnostic,omitempty"`
}

// tell adds an event of a turn. The caller holds the lock.
func (r *Runtime) tell(kind Kind, t *turn, p payload) {
	r.events.add(Event{At: r.cfg.Clock().UTC(), Kind: kind, TurnID: t.ID, Payload: run.EncodeOwn(p)})
}
