package localagent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/executor"
)

// memory is what a drive knows of its turn. The worker alone touches it, but for granted, which Resume sets while the
// turn waits.
type memory struct {
	talk     []exchange
	dropped  int    // exchanges of the talk, from the oldest, whose results are left out
	repaired bool   // the one repair was asked for
	failed   string // intent of the newest call when that failed
	granted  bool   // a person has decided; the state of the research is to be read
}

// ending is how a drive leaves its turn.
type ending struct {
	state      State
	final      string
	diagnostic string
	pending    *Pending
	plan       string
}

func failure(state State, diagnostic string) *ending {
	return &ending{state: state, diagnostic: diagnostic}
}

// internal ends a turn that failed for a reason of this house.
func internal() *ending { return failure(Failed, "The agent could not finish this turn.") }

func usedUp() *ending { return failure(BudgetExhausted, "The turn has used up its calls.") }

// serve drives one turn after the other until the runtime is closed.
func (r *Runtime) serve() {
	defer close(r.ended)
	for t := r.next(); t != nil; t = r.next() {
		r.drive(t)
	}
}

// next waits for a turn; nil means that there will be none.
func (r *Runtime) next() *turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
	for len(r.queue) == 0 {
		if r.closed {
			return nil
		}
		r.wake.Wait()
	}
	t := r.queue[0]
	r.queue = r.queue[1:]
	r.busy = true
	return t
}

// drive goes on with a turn until it ends or waits for a person.
func (r *Runtime) drive(t *turn) {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	if !r.begin(t, end) {
		return
	}
	left := internal()
	if err := executor.Contain(func() error { left = r.advance(ctx, t); return nil }); err != nil {
		r.cfg.Log.Error("the local agent failed", slog.String("turn_id", t.ID), slog.Any("error", err))
	}
	r.leave(t, *left)
}

// begin makes a turn a running one; false when it was cancelled meanwhile.
func (r *Runtime) begin(t *turn, end context.CancelCauseFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.State != Queued {
		return false
	}
	t.State, t.end = Running, end
	r.tell(KindRunning, t, payload{})
	return true
}

// leave puts a turn where its drive ended, unless it was cancelled meanwhile.
func (r *Runtime) leave(t *turn, left ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.end = nil
	if !t.State.Final() {
		r.conclude(t, left)
	}
	if t.State.Final() {
		t.memory = memory{}
	}
}

// conclude changes the state of a turn and tells it. The caller holds the lock.
func (r *Runtime) conclude(t *turn, left ending) {
	t.State, t.Final, t.Diagnostic, t.Pending, t.plan = left.state, left.final, left.diagnostic, left.pending, left.plan
	told := payload{State: string(left.state), Diagnostic: left.diagnostic}
	if left.pending != nil {
		told = payload{Reason: "human_grant_required", ToolID: left.pending.ToolID, ResultID: left.pending.ResultID}
	}
	r.tell(kindOf(left.state), t, told)
	r.cfg.Log.Info("turn of the local agent", slog.String("turn_id", t.ID), slog.String("state", string(left.state)))
}

// kindOf returns the kind of event that tells a state in which a drive ends.
func kindOf(state State) Kind {
	switch state {
	case AuthorizationRequired:
		return KindAuthorizationRequired
	case Completed:
		return KindCompleted
	case Cancelled:
		return KindCancelled
	case ModelUnavailable:
		return KindModelUnavailable
	case ModelProtocolError:
		return KindModelProtocolError
	case BudgetExhausted:
		return KindBudgetExhausted
	}
	return KindFailed
}

// advance asks the model and does what it names, until one of both ends the drive.
func (r *Runtime) advance(ctx context.Context, t *turn) *ending {
	tools := toolsOf(r.cfg.Gateway.Catalog(ctx))
	if t.granted {
		t.granted = false
		if left := r.perform(ctx, t, tools, action{tool: stateTool, arguments: json.RawMessage(`{}`)}); left != nil {
			return left
		}
	}
	for {
		next, left := r.consult(ctx, t, tools)
		if left != nil {
			return left
		}
		if next.tool == "" {
			return &ending{state: Completed, final: next.text}
		}
		if left := r.perform(ctx, t, tools, next); left != nil {
			return left
		}
	}
}

// consult asks the model until it says what may be done. It is asked once in a turn to put an answer right.
func (r *Runtime) consult(ctx context.Context, t *turn, tools tools) (action, *ending) {
	repair := false
	for {
		answer, left := r.complete(ctx, t, tools, repair)
		if left != nil {
			return action{}, left
		}
		next, err := parseAction(answer, tools.known)
		if err == nil {
			return next, nil
		}
		r.cfg.Log.Info("the model's answer is no action", slog.String("turn_id", t.ID), slog.Any("reason", err))
		if t.repaired {
			return action{}, failure(ModelProtocolError, "The model's answer does not have the required form.")
		}
		t.repaired, repair = true, true
		r.report(t, KindModelRepairRequested, payload{})
	}
}

// complete asks the model once. Results that do not fit into one request are left out, the oldest first.
func (r *Runtime) complete(ctx context.Context, t *turn, tools tools, repair bool) (string, *ending) {
	if r.cfg.Model == nil {
		return "", failure(ModelUnavailable, "No model is configured.")
	}
	if left := r.spend(t); left != nil {
		return "", left
	}
	for {
		answer, err := r.cfg.Model.Complete(ctx, r.conversation(t, tools, repair))
		if errors.Is(err, ErrTooLarge) && t.dropped+1 < len(t.talk) {
			t.dropped++
			continue
		}
		if err != nil && ctx.Err() == nil {
			r.cfg.Log.Warn("the model failed", slog.String("turn_id", t.ID), slog.Any("error", err))
		}
		return answer, unanswered(err)
	}
}

// unanswered ends a turn whose model failed; nil without an error.
func unanswered(err error) *ending {
	var lost stuck
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnavailable):
		return failure(ModelUnavailable, "The model could not be reached, or did not answer in time.")
	case errors.Is(err, ErrProtocol):
		return failure(ModelProtocolError, "The model's answer could not be read.")
	case errors.Is(err, ErrTooLarge):
		return failure(BudgetExhausted, "The conversation is too long for one request to the model.")
	case errors.As(err, &lost):
		return failure(Failed, string(lost))
	}
	return internal()
}

// spend counts a question to the model before it is asked. It ends a turn that was cancelled or has none left.
func (r *Runtime) spend(t *turn) *ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.State != Running {
		return &ending{state: Cancelled}
	}
	if t.ModelCalls >= r.cfg.Limits.ModelCalls {
		return usedUp()
	}
	t.ModelCalls++
	return nil
}

// report tells what happened to a turn that still runs; false when it does not.
func (r *Runtime) report(t *turn, kind Kind, p payload) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.State != Running {
		return false
	}
	r.tell(kind, t, p)
	return true
}
