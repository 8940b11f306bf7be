package agent

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Conclude ends a run that will not be driven further. One batch answers every open call, settles what is pending,
// and writes the terminal event. A run that is over already stays as it is.
func (a *Agent) Conclude(ctx context.Context, r run.Run, ending Ending) error {
	d, err := a.recall(ctx, r)
	if err != nil {
		return fmt.Errorf("conclude: %w", err)
	}
	if d.story.over {
		return nil
	}
	if err := d.end(ctx, ending.complete()); err != nil {
		return fmt.Errorf("conclude: %w", err)
	}
	return nil
}

// Ending returns the batch by which Conclude would end the run, and writes nothing: it is good for the run as its
// log is now. The batch of a run that is over already is empty.
func (a *Agent) Ending(ctx context.Context, r run.Run, ending Ending) (ledger.Batch, error) {
	d, err := a.recall(ctx, r)
	if err != nil {
		return ledger.Batch{}, fmt.Errorf("make ending: %w", err)
	}
	if d.story.over {
		return ledger.Batch{}, nil
	}
	batch, err := d.ending(ctx, ending.complete())
	if err != nil {
		return ledger.Batch{}, fmt.Errorf("make ending: %w", err)
	}
	return d.addressed(batch), nil
}

// end writes everything that a run still owes, and its terminal event.
func (d *drive) end(ctx context.Context, ending Ending) error {
	batch, err := d.ending(ctx, ending)
	if err != nil {
		return err
	}
	return d.append(ctx, batch)
}

// ending is everything that a run still owes, and its terminal event.
func (d *drive) ending(ctx context.Context, ending Ending) (ledger.Batch, error) {
	asked, err := d.papers(ctx)
	if err != nil {
		return ledger.Batch{}, err
	}
	var events []run.Event
	if !d.story.started {
		events = append(events, d.startEvent(nil, start{}))
	}
	for _, call := range d.story.open {
		id := call.event.ToolCallID
		events = append(events, ending.answer(call, asked[id], len(d.marks[id]) > 0))
	}
	events = append(events, errorEvent(ending))
	return ledger.Batch{
		Events: events,
		Settle: &run.Resolution{Status: run.ApprovalCancelled, Reason: ending.Reason},
		Finish: &ledger.Finish{Status: ending.Status, Outcome: d.failedOutcome(ending)},
	}, nil
}

// complete fills in what an ending leaves out.
func (e Ending) complete() Ending {
	if e.Status != run.Cancelled {
		e.Status = run.Failed
	}
	if e.Status == run.Cancelled {
		e.Code, e.Text = run.CodeCancelled, "Run cancelled"
	}
	if e.Text == "" || e.Code == "" {
		e.Code, e.Text = run.Public(nil)
	}
	if e.Reason == "" {
		e.Reason = string(e.Code)
	}
	return e
}

// answer closes a call whose run is over. A call that still waited for a person was never let through; of one that had
// left nobody knows whether it took effect.
func (e Ending) answer(call openCall, asked papers, left bool) run.Event {
	ended, approval := "ended", asked.permission
	if e.Status == run.Cancelled {
		ended = "cancelled"
	}
	text := fmt.Sprintf("[ERROR] Run %s before the tool finished", ended)
	switch {
	case left:
		text += ", and nobody knows whether it took effect"
		approval = cmp.Or(asked.unknown, asked.permission)
	case approval != nil && approval.Status != run.Approved:
		text = fmt.Sprintf("[SAFETY_DENIED] Run %s before the call was approved", ended)
	}
	event := unanswered(call, text, approval)
	event.Metadata = with(event.Metadata, "denial_code", run.DeniedCancelled)
	if left {
		event.Metadata = with(event.Metadata, "outcome_unknown", true)
	}
	return event
}
