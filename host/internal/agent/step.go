package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// The stop reasons of a run that was ended by its own limits. Other stop reasons are the model's.
const (
	stopIterations = "max_iterations"
	stopToolCalls  = "max_tool_calls"
)

// limitSentence is the answer of a run that reached one of its limits.
const limitSentence = "I could not finish this within the number of steps I may take. A narrower question may help."

var errBudget = &run.Error{
	Code: run.CodeBudget, Op: "take step", Sentence: "The run used up the steps it may take before it had an answer.",
}

// step asks the model once. It reports whether the run is finished.
func (d *drive) step(ctx context.Context) (finished bool, err error) {
	switch {
	case d.story.review != nil:
		return d.review(ctx)
	case d.story.draft != nil:
		return true, d.putRight(ctx, *d.story.draft)
	case d.story.steps >= d.profile.MaxIterations:
		return true, d.exhausted(ctx, stopIterations)
	case d.story.called > d.profile.MaxToolCalls:
		return true, d.exhausted(ctx, stopToolCalls)
	}
	if ended, err := d.fit(ctx); ended || err != nil {
		return ended, err
	}
	reply, err := d.complete(ctx, d.ask())
	switch {
	case err != nil:
		return d.unheard(ctx, err)
	case len(reply.ToolCalls) > 0:
		return false, d.record(ctx, d.distinct(reply))
	case d.profile.Exit != nil:
		return false, d.submit(ctx, reply, 1)
	}
	return true, d.say(ctx, reply)
}

// unheard goes on, or not, after a model call that failed.
func (d *drive) unheard(ctx context.Context, err error) (finished bool, _ error) {
	var unstored unstoredError
	if errors.As(err, &unstored) && ctx.Err() == nil {
		return false, unstored
	}
	outcome, err := d.broken(ctx, err)
	return outcome == Finished, err
}

// exhausted ends a run that used up what it may do. One whose answers leave through an exit has none.
func (d *drive) exhausted(ctx context.Context, reason string) error {
	if d.profile.Exit != nil {
		return d.fail(ctx, errBudget)
	}
	return d.finish(ctx, answer{text: d.story.behind(limitSentence), reason: reason})
}

// broken ends a run that cannot go on, unless it ended meanwhile.
func (d *drive) broken(ctx context.Context, reason error) (Outcome, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return Finished, d.fail(ctx, reason)
}

// record writes what the model asked for in one batch: think, every call in call order, the end of the step.
func (d *drive) record(ctx context.Context, reply model.Reply) error {
	memo, err := json.Marshal(reply.Message())
	if err != nil {
		return fmt.Errorf("write memo: %w", err)
	}
	if d.profile.Exit != nil {
		reply.Text = "" // words beside calls have not passed the exit
	}
	events := []run.Event{{Kind: run.Think, Content: thought(reply), Memo: memo}}
	spent := maps.Clone(d.story.granted)
	for _, wish := range reply.ToolCalls {
		events = append(events, d.callEvent(ctx, wish, spent))
	}
	events = append(events, stepEvent(reply))
	return d.append(ctx, ledger.Batch{Events: events})
}

// thought is what a step with calls says to a reader.
func thought(reply model.Reply) string {
	if strings.TrimSpace(reply.Text) != "" {
		return reply.Text
	}
	var names []string
	seen := map[string]bool{}
	for _, call := range reply.ToolCalls {
		if !seen[call.Name] {
			seen[call.Name] = true
			names = append(names, call.Name)
		}
	}
	if len(names) == 1 {
		return "Using " + names[0] + " tool"
	}
	return "Using " + strings.Join(names, ", ") + " tools"
}

// why is a reason as the log may know it. What a vendor said stands there for plain runs only: a guarded run promises
// that nobody's words come out of it but through its exit.
func (d *drive) why(reason error) slog.Attr {
	var panicked *executor.PanicError
	var known *run.Error
	switch {
	case d.run.Request.Profile == "":
		return slog.Any("error", reason)
	case errors.As(reason, &panicked):
		return slog.String("error", panicked.Error())
	case errors.As(reason, &known):
		return slog.String("operation", known.Op)
	}
	return slog.String("error", fmt.Sprintf("%T", reason))
}

// fail ends the run because something failed. The reason goes to the log, its public sentence to the reader.
func (d *drive) fail(ctx context.Context, reason error) error {
	code, sentence := run.Public(reason)
	d.cfg.Log.Warn("run failed", slog.String("run_id", d.run.ID), slog.String("code", string(code)), d.why(reason))
	return d.end(ctx, Ending{Status: run.Failed, Code: code, Text: sentence, Reason: string(code)})
}

func (d *drive) outcome(usage *run.Usage) run.Outcome {
	return run.Outcome{
		Usage: usage, ToolCalls: d.story.byName, Approvals: d.story.asked, PolicyHash: d.cfg.PolicyHash(),
	}
}

func (d *drive) failedOutcome(ending Ending) run.Outcome {
	outcome := d.outcome(d.story.usage)
	outcome.ErrorCode, outcome.Error = string(ending.Code), ending.Text
	return outcome
}
