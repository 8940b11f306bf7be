package localagent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

const probe = 500 * time.Millisecond

// Status says what stands behind the turns, as far as can be known without asking the model anything.
func (r *Runtime) Status(ctx context.Context) Status {
	status := Status{
		Mode: r.cfg.Mode, Configured: r.cfg.Model != nil, Available: r.cfg.Model != nil,
		Provider: "openai-compatible-local", EndpointKind: "loopback", Model: r.cfg.ModelName,
	}
	if r.cfg.Mode == Demo {
		status.Provider, status.EndpointKind = "deterministic-demo", "none"
	}
	if !status.Configured {
		status.EndpointKind, status.Reason = "none", "No model is configured."
		return status
	}
	if r.cfg.Reachable == nil {
		return status
	}
	patient, done := context.WithTimeout(ctx, probe)
	defer done()
	if r.cfg.Reachable(patient) != nil {
		status.Available, status.Reason = false, "Nobody listens at the model's endpoint."
	}
	return status
}

// Start queues a turn. With a key that was used for a turn that is still remembered, that turn is returned and nothing
// starts. It refuses with one of Codes.
func (r *Runtime) Start(_ context.Context, objective, key string) (Turn, error) {
	const op = "start a turn of the local agent"
	if !run.IsText(objective) || key != "" && !run.IsKey(key) {
		return Turn{}, refuse(op, CodeInvalid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return Turn{}, refuse(op, CodeClosed)
	}
	if r.workspace == "" {
		return Turn{}, refuse(op, CodeNoneActive)
	}
	if known := r.keyed(key); known != nil {
		if known.Objective != objective {
			return Turn{}, refuse(op, CodeConflict)
		}
		return known.shown(), nil
	}
	if !r.room() {
		return Turn{}, refuse(op, CodeQueueFull)
	}
	if !r.makeRoom() {
		return Turn{}, refuse(op, CodeCapacity)
	}
	t := &turn{Turn: Turn{ID: run.NewUUID(), Objective: objective}, key: key, workspace: r.workspace}
	r.turns = append(r.turns, t)
	r.enqueue(t)
	r.tell(KindQueued, t, payload{Objective: objective})
	return t.shown(), nil
}

// keyed returns the turn that was started with a key, or nil. The caller holds the lock.
func (r *Runtime) keyed(key string) *turn {
	for _, t := range r.turns {
		if key != "" && t.key == key {
			return t
		}
	}
	return nil
}

// makeRoom forgets the oldest final turn when there are too many; false when there is none. The caller holds the lock.
func (r *Runtime) makeRoom() bool {
	if len(r.turns) < r.cfg.Limits.Turns {
		return true
	}
	oldest := slices.IndexFunc(r.turns, func(t *turn) bool { return t.State.Final() })
	if oldest < 0 {
		return false
	}
	r.turns = slices.Delete(r.turns, oldest, oldest+1)
	return true
}

// Turn returns a turn as it is now, or CodeUnknown.
func (r *Runtime) Turn(id string) (Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.find("read a turn of the local agent", id)
	if err != nil {
		return Turn{}, err
	}
	return t.shown(), nil
}

// find returns a turn of the active workspace. The caller holds the lock.
func (r *Runtime) find(op, id string) (*turn, error) {
	for _, t := range r.turns {
		if t.ID == strings.ToLower(id) {
			return t, nil
		}
	}
	return nil, refuse(op, CodeUnknown)
}

// shown returns what may leave. The caller holds the lock.
func (t *turn) shown() Turn {
	shown := t.Turn
	if t.Pending != nil {
		pending := *t.Pending
		shown.Pending = &pending
	}
	return shown
}

// Cancel ends a turn for good, whatever is being done for it; a final one comes back as it is. CodeUnknown when there is
// none.
func (r *Runtime) Cancel(id string) (Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.find("cancel a turn of the local agent", id)
	if err != nil {
		return Turn{}, err
	}
	r.cancel(t, errCancelled)
	return t.shown(), nil
}

// Events returns what happened after a cursor.
func (r *Runtime) Events(cursor int64) Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events.after(cursor)
}
