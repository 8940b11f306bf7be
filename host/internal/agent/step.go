package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"

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

// step asks the model once. It reports whether the run is finished.
func (d *drive) step(ctx context.Context) (finished bool, err error) {
	switch {
	case d.story.draft != nil:
		return true, d.putRight(ctx, *d.story.draft)
	case d.story.steps >= d.cfg.MaxIterations:
		return true, d.finish(ctx, answer{text: d.story.behind(limitSentence), reason: stopIterations})
	case d.story.called > d.cfg.MaxToolCalls:
		return true, d.finish(ctx, answer{text: d.story.behind(limitSentence), reason: stopToolCalls})
	}
	if ended, err := d.fit(ctx); ended || err != nil {
		return ended, err
	}
	reply, err := d.complete(ctx, d.ask())
	var unstored unstoredError
	switch {
	case ctx.Err() != nil && err != nil:
		return false, context.Cause(ctx)
	case errors.As(err, &unstored):
		return false, unstored
	case err != nil:
		return true, d.fail(ctx, err)
	}
	if len(reply.ToolCalls) == 0 {
		return true, d.say(ctx, reply)
	}
	return false, d.record(ctx, d.distinct(reply))
}

// record writes what the model asked for in one batch: think, every call in call order, the end of the step.
func (d *drive) record(ctx context.Context, reply model.Reply) error {
	memo, err := json.Marshal(reply.Message())
	if err != nil {
		return fmt.Errorf("write memo: %w", err)
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

// fail ends the run because the model failed. The reason goes to the log, its public sentence to the reader.
func (d *drive) fail(ctx context.Context, reason error) error {
	code, sentence := run.Public(reason)
	d.cfg.Log.Warn("model failed", slog.String("run_id", d.run.ID), slog.String("code", string(code)),
		slog.Any("error", reason))
	ending := Ending{Status: run.Failed, Code: code, Text: sentence, Reason: string(code)}
	return d.append(ctx, ledger.Batch{
		Events: []run.Event{errorEvent(ending)},
		Finish: &ledger.Finish{Status: run.Failed, Outcome: d.failedOutcome(ending)},
	})
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
