package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Resume goes on with a turn that waits for a person, when a grant of its plan lives and a campaign was admitted under
// it: the state is read again, and told. Until then the turn keeps waiting. The walk goes on when ctx ends; then Resume
// returns its cause. An error without a code means that nobody could tell what people decided.
func (g *Gateway) Resume(ctx context.Context, turnID string) (Turn, error) {
	if !run.IsUUID(turnID) {
		return Turn{}, invalid("A turn's id is a UUID.")
	}
	t, err := g.wake(strings.ToLower(turnID))
	if err != nil {
		return Turn{}, err
	}
	return g.walk(ctx, func(ctx context.Context) (Turn, error) { return g.goOn(ctx, t) })
}

// wake finds a waiting turn and takes it, so that nobody else resumes it meanwhile.
func (g *Gateway) wake(turnID string) (*turn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, g.open()
	}
	t := g.turnOf(turnID)
	switch {
	case t == nil:
		return nil, refuse(CodeTurnUnknown, "This workspace keeps no such turn.")
	case t.busy || t.state != AuthorizationRequired:
		return nil, refuse(CodeTurnNotWaiting, "This turn does not wait for a decision.")
	}
	t.busy = true
	g.tasks.Add(1)
	return t, nil
}

// turnOf finds a turn of the active workspace, or nil. The caller holds mu.
func (g *Gateway) turnOf(id string) *turn {
	if g.shelf == nil {
		return nil
	}
	at := slices.IndexFunc(g.shelf.turns, func(t *turn) bool { return t.id == id })
	if at < 0 {
		return nil
	}
	return g.shelf.turns[at]
}

// goOn walks the rest of a turn that was woken.
func (g *Gateway) goOn(ctx context.Context, t *turn) (Turn, error) {
	timed, stop := context.WithTimeoutCause(ctx, g.cfg.CallTimeout, errTooLate)
	defer stop()
	released, err := g.cfg.Research.Released(timed, t.shelf.workspace, t.planID)
	switch {
	case err != nil:
		g.rest(t)
		return Turn{}, fmt.Errorf("ask whether the plan of a turn is released: %w", err)
	case !released:
		g.rest(t)
		return Turn{}, refuse(CodeTurnNotGranted, "No person has granted the plan of this turn and admitted a campaign under it.")
	}
	state, ok := g.step(ctx, t, toolState, map[string]any{})
	if !ok {
		return g.viewOf(t), nil
	}
	return g.complete(t, summaryOf(state.Output)), nil
}

// rest lets a turn wait on.
func (g *Gateway) rest(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.busy = false
}

// complete ends a turn well.
func (g *Gateway) complete(t *turn, summary string) Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.state, t.busy = Completed, false
	g.tell(t.shelf, Event{
		Kind: TurnCompleted, TurnID: t.id, ObjectRefs: t.refs, Payload: run.EncodeOwn(map[string]any{"summary": summary}),
	})
	return t.view()
}

// summaryOf counts in a research state. It takes no word over from it.
func summaryOf(state json.RawMessage) string {
	var read struct {
		Actions []struct {
			Contacted bool `json:"contacted"`
		} `json:"actions"`
	}
	if json.Unmarshal(state, &read) != nil {
		return "The research state was read again."
	}
	contacted := 0
	for _, action := range read.Actions {
		if action.Contacted {
			contacted++
		}
	}
	return fmt.Sprintf("The research state was read again: %d of %d actions made a contact.", contacted, len(read.Actions))
}
