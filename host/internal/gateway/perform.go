package gateway

import (
	"context"
	"errors"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/run"
)

// The causes with which a call's context ends.
var (
	errTooLate = errors.New("the call took too long")
	errClosing = errors.New("the gateway closes")
)

// begin lets an entered call run on its own: it outlives the client that asked for it, and ends by itself or in time.
func (g *Gateway) begin(ctx context.Context, w wish, e *entry) {
	timed, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), g.cfg.CallTimeout, errTooLate)
	timed, cancel := context.WithCancelCause(timed)
	g.mu.Lock()
	g.running[e] = cancel
	if g.closed {
		cancel(errClosing)
	}
	g.mu.Unlock()
	go func() {
		defer g.tasks.Done()
		defer stop()
		defer cancel(nil)
		g.settle(w, e, g.perform(timed, w, e))
	}()
}

// perform asks the gate, which runs the tool when nothing stands against it.
func (g *Gateway) perform(ctx context.Context, w wish, e *entry) Result {
	var outcome run.CallOutcome
	err := executor.Contain(func() error {
		outcome = g.cfg.Gate.Do(ctx, g.cfg.Gate.Check(ctx, g.callOf(w, e)), nil)
		return nil
	})
	if err != nil {
		g.cfg.Log.Error("call panicked", slog.String("tool", e.toolID), slog.Any("error", err))
		outcome = run.CallOutcome{IsError: true}
	}
	result := Result{ID: e.resultID, TurnID: e.turnID, CallID: e.callID, ToolID: e.toolID, ObjectRefs: w.refs}
	result.read(w, outcome, context.Cause(ctx))
	return result
}

// settle makes what came of a call known: result, reply and event at once.
func (g *Gateway) settle(w wish, e *entry, result Result) {
	var fault error
	result.encode()
	if size := len(result.Encoded); size > g.cfg.Limits.ResultBytes {
		g.cfg.Log.Warn("result too large", slog.String("tool", e.toolID), slog.Int("bytes", size))
		fault = refuse(CodeResultTooLarge, diagnose(resultTooLarge).sentence)
		result.fail(diagnose(resultTooLarge))
		result.ObjectRefs = w.refs
		result.encode()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e.result, e.fault, e.ended = result, fault, true
	delete(g.running, e)
	g.tell(e.shelf, Event{
		Kind: ToolCompleted, TurnID: e.turnID, CallID: e.callID, ObjectRefs: result.ObjectRefs,
		Payload: run.EncodeOwn(map[string]any{"tool_id": e.toolID, "result_id": e.resultID, "state": result.State}),
	})
	close(e.done)
}

// read turns a call's outcome into a result. ended is why the call's time was over, if it was.
func (r *Result) read(w wish, outcome run.CallOutcome, ended error) {
	r.Output, r.ProvenanceRefs = emptyObject(), []string{}
	interrupted := interruption(ended)
	switch {
	case outcome.Denied != "" && !(outcome.Denied == run.DeniedCancelled && interrupted != ""):
		r.fail(denied(outcome.Denied))
	case outcome.Denied != "":
		r.fail(diagnose(interrupted))
	case outcome.IsError:
		r.fail(diagnose(failureOf(outcome.Content, interrupted)))
	default:
		r.succeed(w, outcome.Content)
	}
}

// interruption names what ended a call from outside; empty: nothing did.
func interruption(cause error) trouble {
	switch {
	case errors.Is(cause, errTooLate):
		return tooLate
	case errors.Is(cause, errClosing):
		return shuttingDown
	}
	return ""
}
