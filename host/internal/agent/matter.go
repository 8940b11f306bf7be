package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
)

// way is how an open call goes on.
type way int

const (
	passes      way = iota // to the gate, which has the last word
	asks                   // a person must be asked
	waits                  // a person was asked
	takenAsDone            // a person said that it took effect
	givenUp                // nobody will say whether it took effect: the run ends
)

// matter is an open call and how it goes on.
type matter struct {
	call     openCall
	verdict  gate.Verdict
	way      way
	kind     run.ApprovalKind // of the question, when one is asked
	approval *run.Approval    // that speaks for the call; nil when none does
	left     bool             // it had left when the drive began: it may have taken effect
}

// papers are the newest approvals of one call.
type papers struct {
	permission *run.Approval // whether it may run
	unknown    *run.Approval // what becomes of it after its outcome was lost
}

// papers are the run's approvals by call id.
func (d *drive) papers(ctx context.Context) (map[string]papers, error) {
	found := map[string]papers{}
	if d.story.asked == 0 {
		return found, nil
	}
	page, err := d.cfg.Ledger.Approvals(ctx, run.ApprovalFilter{Run: &d.run.Ref, Oldest: true})
	if err != nil {
		return nil, fmt.Errorf("look up approvals: %w", err)
	}
	for i := range page.Items {
		approval := &page.Items[i]
		of := found[approval.ToolCallID]
		if approval.Kind == run.UnknownOutcome {
			of.unknown = approval
		} else {
			of.permission = approval
		}
		found[approval.ToolCallID] = of
	}
	return found, nil
}

// matter finds out how an open call goes on. One that had left is run again where the operator says that this does no
// harm; of any other a person says what becomes of it.
func (d *drive) matter(ctx context.Context, call openCall, of papers) matter {
	m := matter{call: call}
	if d.beyondLimit(call) {
		return m
	}
	marks := d.marks[call.event.ToolCallID]
	m.verdict = d.verdict(ctx, call.wish, call.spent).Keyed(d.key(call))
	m.left = len(marks) > 0
	answered := of.unknown != nil && !slices.Contains(marks, of.unknown.ID)
	switch {
	case m.left && answered:
		return m.chosen(of.unknown)
	case m.left && d.policy.Unattended && !m.verdict.Tool().Idempotent:
		m.way = givenUp
		return m
	case m.left && !m.verdict.Tool().Idempotent:
		return m.asking(run.UnknownOutcome)
	}
	return m.permitted(of.permission)
}

// permitted is how it stands with a call that may run when policy, and a person where one is needed, say so.
func (m matter) permitted(approval *run.Approval) matter {
	switch {
	case approval == nil || m.outdates(*approval):
		if m.verdict.NeedsApproval() {
			return m.asking(run.Permission)
		}
		return m
	case !approval.Status.Settled():
		m.way = waits
	}
	m.approval = approval
	return m
}

// chosen is how it stands with a call whose outcome is unknown and about which a person was asked.
func (m matter) chosen(approval *run.Approval) matter {
	m.approval = approval
	switch {
	case m.outdates(*approval):
		return m.asking(run.UnknownOutcome)
	case !approval.Status.Settled():
		m.way = waits
	case approval.Status == run.Approved && approval.Choice == run.TreatAsDone:
		m.way = takenAsDone
	case approval.Status == run.Approved && approval.Choice == run.Retry, refusedSince(*approval):
		m.way = passes
	default:
		m.way = givenUp
	}
	return m
}

func (m matter) asking(kind run.ApprovalKind) matter {
	m.way, m.kind, m.approval = asks, kind, nil
	return m
}

// outdates reports whether an approval speaks of the call as it would not run any more, so that a person must look
// again. Every such approval was answered: without people nobody is asked twice.
func (m matter) outdates(approval run.Approval) bool {
	switch approval.Status {
	case run.ApprovalCancelled:
		return approval.Resolution == string(run.CodeApprovalStale)
	case run.Approved:
		return approval.Choice != run.TreatAsDone && !m.verdict.Denied() &&
			(approval.ArgsDigest != m.verdict.ArgsDigest() || approval.ToolDigest != m.verdict.Tool().Digest)
	}
	return false
}

// refusedSince reports whether policy refused the call when a person said yes. The gate says so to the model.
func refusedSince(approval run.Approval) bool {
	return approval.Status == run.ApprovalCancelled && approval.Resolution == string(run.CodePolicyDenied)
}

// becameStale reports whether the gate turned a call away because it is not what was approved any more.
func (m matter) becameStale(outcome run.CallOutcome) bool {
	return m.approval != nil && m.approval.Status == run.Approved && outcome.Denied == run.DeniedStale
}

// judgedAgain is how it stands with a call that became stale between the look at it and its turn.
func (d *drive) judgedAgain(ctx context.Context, m matter) matter {
	delete(d.verdicts, m.call.event.ToolCallID)
	kind := m.approval.Kind
	m.verdict = d.verdict(ctx, m.call.wish, m.call.spent).Keyed(d.key(m.call))
	switch {
	case m.verdict.Denied():
		return m
	case kind == run.UnknownOutcome:
		return m.asking(kind)
	}
	m.approval = nil // it was a yes to another call
	return m.permitted(nil)
}

// asked is what a person is shown of the call. One that could not be judged any more is shown as it left.
func (m matter) asked() run.Asked {
	asked := run.Asked{
		Call: m.verdict.Call(), Tool: m.verdict.Tool(), Args: m.verdict.Args(), Decision: m.verdict.Decision(),
	}
	if m.kind == run.UnknownOutcome {
		asked.Reason = unknownSentence(m.call)
	}
	if asked.Tool.Name == "" {
		asked.Tool.Name = m.call.event.ToolName
	}
	if asked.Args == nil {
		asked.Args = m.call.event.ToolArgs
	}
	return asked
}
