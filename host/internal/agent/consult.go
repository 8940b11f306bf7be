package agent

import (
	"context"
	"errors"
	"time"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

var (
	errModelSaturated = &run.Error{
		Code: run.CodeModelSaturated, Op: "ask model", Sentence: "Too many questions are asked at the moment. Try again later.",
	}
	errModelLate = &run.Error{
		Code: run.CodeModelTimeout, Op: "ask model", Sentence: "The model took longer than it may.",
	}
	errToolSaturated = &run.Error{
		Code: run.CodeToolSaturated, Op: "run tool", Sentence: "Too many tools run at the moment. Try again later.",
	}
)

// consult asks the model where the profile says, and within its time. Whatever a call does that is not waited for any
// more is dropped.
func (d *drive) consult(ctx context.Context, request model.Request, onText func(string)) (model.Reply, error) {
	timed, stop := within(ctx, d.profile.ModelTimeout, errModelLate)
	defer stop()
	var reply model.Reply
	err := d.profile.Models.Do(timed, func(ctx context.Context) (err error) {
		reply, err = d.cfg.Model.Complete(ctx, request, onText)
		return err
	})
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return model.Reply{}, context.Cause(ctx)
	case timed.Err() != nil:
		return model.Reply{}, context.Cause(timed)
	case errors.Is(err, executor.ErrSaturated):
		return model.Reply{}, errModelSaturated
	}
	return model.Reply{}, err
}

// pass lets the gate run a call where the profile says.
func (d *drive) pass(ctx context.Context, verdict gate.Verdict, approval *run.Approval) (run.CallOutcome, error) {
	returned := make(chan run.CallOutcome, 1)
	err := d.profile.ToolSlots.Do(ctx, func(ctx context.Context) error {
		returned <- d.cfg.Gate.Do(ctx, verdict, approval)
		return nil
	})
	select {
	case outcome := <-returned:
		return outcome, nil // also when the run was stopped meanwhile
	default:
	}
	switch {
	case ctx.Err() != nil:
		return run.CallOutcome{}, context.Cause(ctx)
	case errors.Is(err, executor.ErrSaturated):
		return run.CallOutcome{}, errToolSaturated
	}
	return run.CallOutcome{}, err
}

// within bounds a context where there is a bound.
func within(ctx context.Context, most time.Duration, cause error) (context.Context, context.CancelFunc) {
	if most <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, most, cause)
}

// inline runs every task at once, on the goroutine that asks.
type inline struct{}

func (inline) Do(ctx context.Context, task func(ctx context.Context) error) error { return task(ctx) }
