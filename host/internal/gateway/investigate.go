package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// steps are what the deterministic agent does, whatever the objective says.
func steps() []string {
	return []string{toolSearch, toolNode, toolNeighbors, toolTrace, toolPrepare}
}

// investigate walks: it searches, reads about the first object found, and prepares research about it. A step that does
// not go well ends the walk.
func (g *Gateway) investigate(ctx context.Context, t *turn) Turn {
	found, ok := g.step(ctx, t, toolSearch, map[string]any{"query": t.objective})
	switch {
	case !ok:
		return g.viewOf(t)
	case len(found.ObjectRefs) == 0:
		return g.fail(t, "", Failed, fault{"agent_no_match", "Nothing in this workspace matches the objective."})
	}
	object := found.ObjectRefs[0]
	t.refs = []string{object}
	for _, reading := range []string{toolNode, toolNeighbors, toolTrace} {
		if _, ok := g.step(ctx, t, reading, map[string]any{"object_id": object}); !ok {
			return g.viewOf(t)
		}
	}
	prepared, ok := g.step(ctx, t, toolPrepare, map[string]any{
		"selection_ids": t.refs, "question": t.objective, "exclusions": []string{},
	})
	if !ok {
		return g.viewOf(t)
	}
	return g.park(t, prepared)
}

// fault is what an agent.error says.
type fault struct {
	code, message string
}

// step makes one call of a turn. When it does not go well, the turn ends and step reports false.
func (g *Gateway) step(ctx context.Context, t *turn, toolID string, input map[string]any) (Result, bool) {
	e, err := g.ask(ctx, t, toolID, input)
	if err != nil {
		code, sentence := run.Public(err)
		g.fail(t, "", Failed, fault{string(code), sentence})
		return Result{}, false
	}
	<-e.done // begin bounds it
	if e.fault != nil {
		code, sentence := run.Public(e.fault)
		g.fail(t, e.callID, Failed, fault{string(code), sentence})
		return Result{}, false
	}
	if e.result.State == Completed || e.result.PlanID != "" {
		return e.result, true
	}
	g.failStep(t, e.result)
	return Result{}, false
}

// ask begins a call of a turn, unless its workspace is not the active one any more.
func (g *Gateway) ask(ctx context.Context, t *turn, toolID string, input map[string]any) (*entry, error) {
	tool, known := toolOf(toolID)
	if !known {
		return nil, errors.New("the deterministic agent asks for an unknown tool")
	}
	w, err := newWish(Request{TurnID: t.id, Input: run.EncodeOwn(input), ObjectRefs: t.refs}, tool)
	if err != nil {
		return nil, err
	}
	e, err := g.enterOn(t.shelf, w)
	if err != nil {
		return nil, err
	}
	g.begin(ctx, w, e)
	return e, nil
}

// enterOn enters a call on a shelf that must be the active one.
func (g *Gateway) enterOn(s *shelf, w wish) (*entry, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return nil, err
	}
	if s != g.shelf {
		return nil, refuse(CodeTurnUnknown, "The workspace of this turn is not active any more.")
	}
	return g.enter(s, w)
}

// failStep ends a turn in the state of its failed step. One that waits for approval waits for nobody here: only
// prepared research can be granted.
func (g *Gateway) failStep(t *turn, failed Result) {
	state := failed.State
	if state == AuthorizationRequired {
		state = Failed
	}
	code := "agent_tool_" + strings.ToLower(string(failed.State))
	g.fail(t, failed.CallID, state, fault{code, failed.Diagnostic})
}

// fail ends a turn, and tells why.
func (g *Gateway) fail(t *turn, callID string, state State, why fault) Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.state, t.busy = state, false
	g.tell(t.shelf, Event{
		Kind: AgentError, TurnID: t.id, CallID: callID, ObjectRefs: t.refs,
		Payload: run.EncodeOwn(map[string]any{"code": why.code, "message": why.message}),
	})
	return t.view()
}

// park lets a turn wait for a person's decision about the plan that was prepared.
func (g *Gateway) park(t *turn, prepared Result) Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.state, t.busy = AuthorizationRequired, false
	t.plan, t.planID = prepared.Output, prepared.PlanID
	g.tell(t.shelf, Event{
		Kind: AuthorizationAsk, TurnID: t.id, CallID: prepared.CallID, ObjectRefs: t.refs,
		Payload: run.EncodeOwn(map[string]any{"reason": "human_grant_required", "result_id": prepared.ID}),
	})
	return t.view()
}

func (g *Gateway) viewOf(t *turn) Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return t.view()
}
