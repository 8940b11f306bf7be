package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// maxApprovals is how many approvals of one run are looked at.
const maxApprovals = 1000

// settle answers every open call of a step, in call order, or parks the run when a person must be asked first: "all
// ask_user of a step precede its first tool_result".
//
// The outcome is zero when the run goes on.
func (d *drive) settle(ctx context.Context) (Outcome, error) {
	if len(d.story.open) == 0 {
		return 0, nil
	}
	approvals, err := d.approvals(ctx)
	if err != nil {
		return 0, err
	}
	parked, err := d.askPeople(ctx, approvals)
	if err != nil {
		return 0, err
	}
	if parked {
		return Parked, nil
	}
	for _, call := range slices.Clone(d.story.open) {
		batch, err := d.answer(ctx, call, approvals[call.event.ToolCallID])
		if err != nil {
			return d.broken(ctx, err)
		}
		if err := d.append(ctx, batch); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// approvals are the run's approvals by call id.
func (d *drive) approvals(ctx context.Context) (map[string]*run.Approval, error) {
	found := map[string]*run.Approval{}
	if d.story.asked == 0 {
		return found, nil
	}
	page, err := d.cfg.Ledger.Approvals(ctx, run.ApprovalFilter{Run: &d.run.Ref, Limit: maxApprovals})
	if err != nil {
		return nil, fmt.Errorf("look up approvals: %w", err)
	}
	for i := range page.Items {
		found[page.Items[i].ToolCallID] = &page.Items[i]
	}
	return found, nil
}

// askPeople opens an approval for every call that needs one and parks the run while any is pending.
func (d *drive) askPeople(ctx context.Context, approvals map[string]*run.Approval) (parked bool, err error) {
	batch := ledger.Batch{Park: true}
	for _, call := range d.story.open {
		if d.beyondLimit(call) {
			continue
		}
		verdict := d.verdict(ctx, call.wish, call.spent)
		known := approvals[call.event.ToolCallID]
		switch {
		case known != nil:
			parked = parked || !known.Status.Settled()
		case verdict.NeedsApproval():
			approval, err := d.cfg.Desk.Open(ctx, run.Permission, run.Asked{
				Call: verdict.Call(), Tool: verdict.Tool(), Args: verdict.Args(), Decision: verdict.Decision(),
			})
			if err != nil {
				return false, fmt.Errorf("open approval: %w", err)
			}
			batch.Approvals = append(batch.Approvals, approval)
			batch.Events = append(batch.Events, askEvent(approval))
			parked = true
		}
	}
	if !parked {
		return false, nil
	}
	return true, d.append(ctx, batch)
}

// beyondLimit reports whether a call is one too many in its run.
func (d *drive) beyondLimit(call openCall) bool { return call.ordinal > d.profile.MaxToolCalls }

// answer lets the gate run a call and makes a batch of its result. An error means that the call found no place to run, or
// that the run ended meanwhile.
func (d *drive) answer(ctx context.Context, call openCall, approval *run.Approval) (ledger.Batch, error) {
	if d.beyondLimit(call) {
		text := fmt.Sprintf("[ERROR] Limit of %d tool calls reached", d.profile.MaxToolCalls)
		return ledger.Batch{Events: []run.Event{unanswered(call, text, nil)}}, nil
	}
	outcome, err := d.do(ctx, call, d.verdict(ctx, call.wish, call.spent), approval)
	if err != nil {
		return ledger.Batch{}, err
	}
	event := resultEvent(call, outcome, approval, d.policyFields(outcome.Decision))
	return resultBatch(event, outcome), nil
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
