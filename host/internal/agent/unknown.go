package agent

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// auditPage is how many audit records are read at a time.
const auditPage = 1000

// takenSentence is the result of a call of which a person said that it took effect.
const takenSentence = "A person said that this call took effect. What it returned is not known."

// recallMarks finds the calls without a result that had left when the drive began: nobody knows whether they took
// effect. A mark is the id of the approval under which a call left, empty where it needed none. Marks that the drive
// itself sets are never looked at: what it lets go it waits for.
func (d *drive) recallMarks(ctx context.Context) error {
	if len(d.story.open) == 0 || d.story.over {
		return nil
	}
	open := map[string]bool{}
	for _, call := range d.story.open {
		open[call.event.ToolCallID] = true
	}
	d.marks = map[string][]string{}
	for after := int64(-1); ; {
		records, err := d.cfg.Ledger.Audits(ctx, &d.run.Ref, after, auditPage)
		if err != nil {
			return err
		}
		for _, record := range records {
			if open[record.CallID] && record.Stage == run.Decided && record.Dispatched {
				d.marks[record.CallID] = append(d.marks[record.CallID], record.ApprovalID)
			}
		}
		if len(records) < auditPage {
			return nil
		}
		after = records[len(records)-1].Sequence
	}
}

// key is the same for every try of one call and of no other call ever.
func (d *drive) key(call openCall) string {
	key := fmt.Sprintf("%s:%d", d.run.ID, call.event.Sequence)
	if d.run.Tenant != "" {
		return string(d.run.Tenant) + "/" + key
	}
	return key
}

// unknownSentence asks what becomes of a call whose outcome was lost.
func unknownSentence(call openCall) string {
	return fmt.Sprintf("The service stopped while the tool '%s' was at work, so nobody knows whether it took effect. "+
		"Look first if you can, then choose: run it once more (retry), go on as if it had worked (treat_as_done), or end "+
		"the run (abort).", call.event.ToolName)
}

// doneEvent is the result of a call of which a person said that it took effect.
func (m matter) doneEvent() run.Event {
	event := unanswered(m.call, takenSentence, m.approval)
	for key, value := range map[string]any{
		"is_error": false, "outcome_unknown": true, "choice": m.approval.Choice,
	} {
		event.Metadata = with(event.Metadata, key, value)
	}
	return event
}

// giveUp ends the run: a call may have taken effect, and nobody says what becomes of it.
func (d *drive) giveUp(ctx context.Context, m matter) error {
	ending := Ending{
		Status: run.Failed, Code: run.CodeOutcomeUnknown, Reason: string(run.CodeOutcomeUnknown),
		Text: fmt.Sprintf("The run was ended because nobody knows whether the tool '%s' took effect.", m.call.event.ToolName),
	}
	switch {
	case m.approval == nil:
		ending.Reason = string(run.DeniedUnattended)
	case m.approval.Status == run.Denied:
		ending.Reason = string(run.Abort)
	case m.approval.Status == run.Expired:
		ending.Reason = string(run.DeniedExpired)
	}
	return d.end(ctx, ending)
}
