package localagent

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/run"
)

// stateTool is read after a grant, before the model is asked again.
const stateTool = "research.get_state"

// tools are the catalogue as it was when a drive began.
type tools []gateway.Descriptor

func toolsOf(catalog gateway.Catalog) tools { return catalog.Tools }

func (l tools) known(id string) bool {
	return slices.ContainsFunc(l, func(tool gateway.Descriptor) bool { return tool.ToolID == id })
}

// asks reports whether a tool waits for a person.
func (l tools) asks(id string) bool {
	return slices.ContainsFunc(l, func(tool gateway.Descriptor) bool {
		return tool.ToolID == id && tool.AuthorizationRequirement != "NONE"
	})
}

// outcome is what came of a call.
type outcome struct {
	state    gateway.State
	resultID string          // empty when the gateway took no call
	document json.RawMessage // as the model is shown it
	plan     string          // that was prepared
}

// perform makes the call that an action names. It ends the drive when a person has to decide, when the same call failed
// twice in a row, and when the turn was cancelled or has no calls left.
func (r *Runtime) perform(ctx context.Context, t *turn, tools tools, next action) *ending {
	if left := r.request(t, tools, next.tool); left != nil {
		return left
	}
	got, left := r.call(ctx, t, next)
	if left != nil {
		return left
	}
	told := payload{ToolID: next.tool, ResultID: got.resultID, State: string(got.state)}
	if !r.report(t, KindToolCompleted, told) {
		return &ending{state: Cancelled}
	}
	t.talk = append(t.talk, exchange{next, got.document})
	if got.state == gateway.AuthorizationRequired {
		return &ending{
			state: AuthorizationRequired, plan: got.plan,
			pending: &Pending{ToolID: next.tool, ResultID: got.resultID},
		}
	}
	return t.repeated(next, got.state)
}

// request counts and tells a call before it is made. What waits for a person needs one more call of each kind to be of
// use afterwards: without them nobody is asked.
func (r *Runtime) request(t *turn, tools tools, tool string) *ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, asked := r.cfg.Limits.ToolCalls-t.ToolCalls, r.cfg.Limits.ModelCalls-t.ModelCalls
	switch {
	case t.State != Running:
		return &ending{state: Cancelled}
	case left < 1 || tools.asks(tool) && (left < 2 || asked < 1):
		return usedUp()
	}
	t.ToolCalls++
	r.tell(KindToolRequested, t, payload{ToolID: tool})
	return nil
}

// call goes through the gateway. What the gateway refuses for what it is, is a result that failed.
func (r *Runtime) call(ctx context.Context, t *turn, next action) (outcome, *ending) {
	reply, err := r.cfg.Gateway.Call(ctx, gateway.Request{
		TurnID: t.ID, ToolID: next.tool, Input: next.arguments, Key: run.NewUUID(), Workspace: t.workspace,
	})
	var result gateway.Result
	if err == nil {
		result, err = r.cfg.Gateway.Result(reply.ResultID)
	}
	if err == nil {
		return outcome{result.State, result.ID, result.Encoded, result.PlanID}, nil
	}
	code, sentence := run.Public(err)
	switch code {
	case gateway.CodeInvalid, gateway.CodeResultTooLarge, gateway.CodeResultUnknown, gateway.CodeCapacity:
		return outcome{state: gateway.Failed, document: refused(next.tool, sentence)}, nil
	}
	if ctx.Err() == nil {
		r.cfg.Log.Warn("the gateway failed", slog.String("turn_id", t.ID), slog.Any("error", err))
	}
	return outcome{}, internal()
}

// repeated ends a turn in which the same call failed twice in a row.
func (t *turn) repeated(next action, state gateway.State) *ending {
	if state == gateway.Completed {
		t.failed = ""
		return nil
	}
	intent := next.intent()
	if t.failed == intent {
		return failure(Failed, "The same call failed twice in a row.")
	}
	t.failed = intent
	return nil
}

// intent is equal for calls that ask for the same.
func (a action) intent() string {
	arguments, err := run.Canonical(a.arguments)
	if err != nil {
		arguments = a.arguments
	}
	return a.tool + "\n" + string(arguments)
}
