package gateway

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/run"
)

// running is a turn on its way. It is no state of the contract: a client never sees it.
const running State = "RUNNING"

// turn is one walk on its shelf. Gateway.mu guards what changes.
type turn struct {
	id        string
	objective string
	shelf     *shelf
	state     State
	busy      bool     // somebody walks: it is neither forgotten nor resumed
	refs      []string // the object it is about, once it was found
	plan      json.RawMessage
	planID    string
}

// Start lets the deterministic agent walk with an objective, which is data to it: it is searched for, and asked about
// in the plan. A walk that cannot go on ends in an honest state with an agent.error, and without an error here. The
// walk goes on when ctx ends; then Start returns its cause. Every other error is a *run.Error with one of Codes.
func (g *Gateway) Start(ctx context.Context, objective string) (Turn, error) {
	if !run.IsText(objective) {
		return Turn{}, invalid("objective must be a text of 1 to 512 characters that is not blank and holds no NUL.")
	}
	t, err := g.newTurn(objective)
	if err != nil {
		return Turn{}, err
	}
	return g.walk(ctx, func(ctx context.Context) (Turn, error) { return g.investigate(ctx, t), nil })
}

// newTurn puts a turn on the active workspace's shelf and tells its objective and its steps.
func (g *Gateway) newTurn(objective string) (*turn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return nil, err
	}
	t := &turn{id: run.NewUUID(), objective: objective, shelf: g.shelf, state: running, busy: true}
	if g.crowded() || !t.shelf.keepTurn(t, g.cfg.Limits.Turns) {
		return nil, refuse(CodeCapacity, "Too many calls or turns are under way.")
	}
	g.tasks.Add(1)
	g.tell(t.shelf, Event{Kind: TurnStarted, TurnID: t.id, Payload: run.EncodeOwn(map[string]any{"objective": objective})})
	g.tell(t.shelf, Event{Kind: PlanUpdated, TurnID: t.id, Payload: run.EncodeOwn(map[string]any{"steps": steps()})})
	return t, nil
}

// walk runs a walk on its own, and returns what comes of it unless ctx ends before. The walk's task was counted.
func (g *Gateway) walk(ctx context.Context, walk func(context.Context) (Turn, error)) (Turn, error) {
	type end struct {
		turn Turn
		err  error
	}
	ends := make(chan end, 1)
	go func() {
		defer g.tasks.Done()
		var turn Turn
		err := executor.Contain(func() (err error) {
			turn, err = walk(context.WithoutCancel(ctx))
			return err
		})
		ends <- end{turn, err}
	}()
	select {
	case end := <-ends:
		return end.turn, end.err
	case <-ctx.Done():
		return Turn{}, context.Cause(ctx)
	}
}

// keepTurn adds a turn, and forgets the oldest one that nobody walks when there are more than most. It reports whether
// there was room.
func (s *shelf) keepTurn(t *turn, most int) bool {
	if len(s.turns) >= most {
		at := slices.IndexFunc(s.turns, func(old *turn) bool { return !old.busy })
		if at < 0 {
			return false
		}
		s.turns = slices.Delete(s.turns, at, at+1)
	}
	s.turns = append(s.turns, t)
	return true
}

// view is the turn as its client sees it. The caller holds Gateway.mu.
func (t *turn) view() Turn { return Turn{ID: t.id, State: t.state, ResearchPlan: t.plan} }
