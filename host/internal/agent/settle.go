package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// settle answers every open call of a step, in call order, or parks the run when a person must be asked first: "all
// ask_user of a step precede its first tool_result".
//
// The outcome is zero when the run goes on.
func (d *drive) settle(ctx context.Context) (Outcome, error) {
	if len(d.story.open) == 0 {
		return 0, nil
	}
	asked, err := d.papers(ctx)
	if err != nil {
		return 0, err
	}
	var open []matter
	for _, call := range d.story.open {
		open = append(open, d.matter(ctx, call, asked[call.event.ToolCallID]))
	}
	for _, m := range open {
		if m.way == givenUp {
			return Finished, d.giveUp(ctx, m)
		}
	}
	if outcome, err := d.askPeople(ctx, open); outcome != 0 || err != nil {
		return outcome, err
	}
	for _, m := range open {
		if outcome, err := d.answer(ctx, m); outcome != 0 || err != nil {
			return outcome, err
		}
	}
	return 0, nil
}

// askPeople opens an approval for every call that needs one and parks the run while any is pending. The outcome is zero
// when nobody is asked.
func (d *drive) askPeople(ctx context.Context, open []matter) (Outcome, error) {
	batch := ledger.Batch{}
	for _, m := range open {
		switch m.way {
		case waits:
			batch.Park = true
		case asks:
			approval, err := d.cfg.Desk.Open(ctx, m.kind, m.asked())
			if err != nil {
				return 0, fmt.Errorf("open approval: %w", err)
			}
			batch.Approvals = append(batch.Approvals, approval)
			batch.Events = append(batch.Events, askEvent(approval))
			batch.Park = true
		}
	}
	if !batch.Park {
		return 0, nil
	}
	return Parked, d.append(ctx, batch)
}

// beyondLimit reports whether a call is one too many in its run.
func (d *drive) beyondLimit(call openCall) bool { return call.ordinal > d.profile.MaxToolCalls }

// answer gives a call its result. The outcome is zero when the run goes on: it does not when the call found no place to
// run, when the run ended meanwhile, and when a person must be asked once more.
func (d *drive) answer(ctx context.Context, m matter) (Outcome, error) {
	switch {
	case d.beyondLimit(m.call):
		text := fmt.Sprintf("[ERROR] Limit of %d tool calls reached", d.profile.MaxToolCalls)
		return 0, d.append(ctx, ledger.Batch{Events: []run.Event{unanswered(m.call, text, nil)}})
	case m.way == takenAsDone:
		return 0, d.append(ctx, ledger.Batch{Events: []run.Event{m.doneEvent()}})
	}
	outcome, err := d.do(ctx, m.call, m.verdict, m.approval)
	if err == nil && m.becameStale(outcome) {
		again := d.judgedAgain(ctx, m)
		if again.way == asks {
			return d.askPeople(ctx, []matter{again})
		}
		if !again.verdict.Denied() {
			m = again
			outcome, err = d.do(ctx, m.call, m.verdict, m.approval)
		}
	}
	switch {
	case err != nil:
		return d.broken(ctx, err)
	case outcome.Cut, outcome.Unstored != nil && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case isAway(outcome.Unstored), errors.Is(outcome.Unstored, ledger.ErrFenced):
		return 0, outcome.Unstored // a person's yes outlasts a store that is away for a while
	}
	outcome.Unknown = outcome.Unknown || m.left && outcome.Denied != ""
	event := resultEvent(m.call, outcome, m.approval, d.policyFields(outcome.Decision))
	return 0, d.keep(ctx, event.ToolCallID, resultBatch(event, outcome))
}

// resultBatch commits what came of a call together with the line about it in the books: a call that left and has no
// result is one of which nobody knows whether it took effect.
func resultBatch(event run.Event, outcome run.CallOutcome) ledger.Batch {
	batch := ledger.Batch{Events: []run.Event{event}}
	if outcome.Record != nil {
		batch.Audits = []run.Audit{*outcome.Record}
	}
	return batch
}

// resultEvent is what came of a call.
func resultEvent(call openCall, outcome run.CallOutcome, approval *run.Approval, metadata map[string]any) run.Event {
	metadata["action"] = "result"
	metadata["is_error"] = outcome.IsError
	metadata["approved"], metadata["request_id"] = nil, nil
	if approval != nil {
		metadata["approved"], metadata["request_id"] = outcome.Approved, approval.ID
		if approval.Choice != "" {
			metadata["choice"] = approval.Choice
		}
	}
	if outcome.Denied != "" {
		metadata["denial_code"] = outcome.Denied
	}
	if outcome.Unknown {
		metadata["outcome_unknown"] = true
	}
	if outcome.Whole != nil {
		metadata["source_result"] = outcome.Whole
	}
	if outcome.Removed > 0 {
		metadata["scope_removed_results"] = outcome.Removed
	}
	return run.Event{
		Kind: run.ToolResult, Content: strings.ToValidUTF8(outcome.Content, "\uFFFD"), ToolName: call.event.ToolName,
		ToolCallID: call.event.ToolCallID, Duration: &outcome.Duration, Citations: outcome.Citations,
		Metadata: object(metadata),
	}
}

// unanswered is the result of a call that the gate never answered. It keeps what the call's own event says about
// policy.
func unanswered(call openCall, text string, approval *run.Approval) run.Event {
	metadata := map[string]any{}
	if json.Unmarshal(call.event.Metadata, &metadata) != nil || metadata == nil {
		metadata = map[string]any{}
	}
	delete(metadata, "raw_arguments_preview")
	metadata["action"] = "result"
	metadata["is_error"] = true
	metadata["approved"], metadata["request_id"] = nil, nil
	if approval != nil {
		metadata["approved"], metadata["request_id"] = approval.Status == run.Approved, approval.ID
	}
	return run.Event{
		Kind: run.ToolResult, Content: text, ToolName: call.event.ToolName, ToolCallID: call.event.ToolCallID,
		Metadata: object(metadata),
	}
}
