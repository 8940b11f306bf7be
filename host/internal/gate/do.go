package gate

import (
	"context"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Do carries a verdict out: it runs the tool when nothing stands against it, and turns everything else into an
// outcome that says why not. The decision is committed before the tool runs; when that fails, it does not run. A call
// that needs a person runs only with that person's approval of exactly this call, these arguments and this tool.
func (g *Gate) Do(ctx context.Context, v Verdict, approval *run.Approval) run.CallOutcome {
	if v.gate != g || v.spent == nil {
		v.refusal = blocked(run.DeniedStale, "This call was not judged by the policy in force")
		v.refuse()
		return v.outcome()
	}
	today := g.enter()
	defer g.leave(today)
	v = g.judgedUnder(ctx, today, v)
	v.decision.Chain = append([]run.ChainLink{}, v.decision.Chain...)
	target, refused := g.pass(ctx, v, approval)
	if refused == nil && !v.spent.CompareAndSwap(false, true) {
		refused = blocked(run.DeniedStale, "This verdict was already carried out")
	}
	if refused != nil {
		return g.turnAway(ctx, v, approval, refused)
	}
	if v.decision.Scope.Empty {
		return g.answerLocally(ctx, v)
	}
	if err := g.recordDecision(ctx, v, approval, true); err != nil {
		g.cfg.Log.Error("decision not recorded, call denied", slog.String("tool", v.tool.Name), slog.Any("error", err))
		v.refusal = blocked(run.DeniedAudit, "The decision could not be recorded")
		v.override()
		outcome := v.outcome()
		outcome.Unstored = err
		return outcome
	}
	outcome := g.invoke(ctx, v, target.source)
	outcome.Approved = approval != nil
	g.recordOutcome(ctx, v, &outcome)
	return outcome
}

// judgedUnder returns the verdict under the ruling in force: where it changed since, the call is judged again.
func (g *Gate) judgedUnder(ctx context.Context, today *ruling, v Verdict) Verdict {
	if v.under == today {
		return v
	}
	again := g.checkUnder(ctx, today, v.call)
	again.spent = v.spent
	return again
}

// pass looks at everything that may have changed since the verdict: a person's answer, and the tool.
func (g *Gate) pass(ctx context.Context, v Verdict, approval *run.Approval) (placed, *refusal) {
	if approval != nil {
		if refused := v.notApproved(*approval); refused != nil {
			return placed{}, refused
		}
	}
	if v.refusal != nil {
		return placed{}, v.refusal
	}
	target, exists := v.under.find(ctx, v.call.Tool)
	target.tool.Name = v.call.Tool
	if refused := admit(v.call.ToolPolicy, target.tool); refused != nil {
		return placed{}, refused
	}
	switch {
	case !exists:
		return placed{}, unknownTool(v.call.Tool)
	case target.tool.Digest != v.tool.Digest:
		return placed{}, blocked(run.DeniedStale, "The tool changed after the call was judged")
	case approval == nil && v.decision.Action == sdk.RequireApproval:
		return placed{}, unapproved(run.DeniedApproval, "approval required: "+v.decision.Reason)
	}
	return target, nil
}

// notApproved compares a person's answer with the verdict: it must be a yes to exactly this call, these arguments and
// this tool. A call that could not even be judged any more has changed.
func (v Verdict) notApproved(approval run.Approval) *refusal {
	if approval.Run != v.call.Fence.Ref || approval.ToolCallID != v.call.ID || approval.ToolName != v.call.Tool {
		return blocked(run.DeniedStale, "The approval belongs to another call")
	}
	if refused := unapprovedStatus(approval); refused != nil {
		return refused
	}
	unjudged := v.refusal != nil && isStale(v.refusal.code)
	changed := v.refusal == nil && (approval.ArgsDigest != v.ArgsDigest() || approval.ToolDigest != v.tool.Digest)
	if unjudged || changed {
		return blocked(run.DeniedStale, "The call or the tool changed after it was approved")
	}
	return nil
}

// unapprovedStatus refuses every status but approved.
func unapprovedStatus(approval run.Approval) *refusal {
	switch approval.Status {
	case run.Approved:
		return nil
	case run.Denied:
		return unapproved(run.DeniedApproval, withReason("approval denied", approval.Resolution))
	case run.Expired:
		return unapproved(run.DeniedExpired, withReason("approval expired", approval.Resolution))
	case run.ApprovalCancelled:
		return cancelledApproval(approval.Resolution)
	}
	return unapproved(run.DeniedApproval, "approval is still pending")
}

// cancelledApproval says why an approval was cancelled: the gate looked again and refused, or the run ended.
func cancelledApproval(reason string) *refusal {
	switch run.Code(reason) {
	case run.CodeApprovalStale:
		return blocked(run.DeniedStale, "The call or the tool changed before it was approved")
	case run.CodePolicyDenied:
		return blocked(run.DeniedByPolicy, "Policy denied the call before it was approved")
	}
	return blocked(run.DeniedCancelled, withReason("approval cancelled", reason))
}

func withReason(what, reason string) string {
	if reason = plainText(reason); reason == "" {
		return what
	}
	return what + ": " + reason
}

// turnAway records a refusal and answers with it. A refusal that cannot be recorded is still one.
func (g *Gate) turnAway(ctx context.Context, v Verdict, approval *run.Approval, refused *refusal) run.CallOutcome {
	if v.refusal != refused {
		v.refusal = refused
		v.override()
	}
	if err := g.recordDecision(ctx, v, approval, false); err != nil {
		g.cfg.Log.Error("denial not recorded", slog.String("tool", v.call.Tool), slog.Any("error", err))
	}
	return v.outcome()
}

// override makes a decision that let the call pass say what stopped it after all. The policy fields stay: they are
// the rule's word.
func (v *Verdict) override() {
	d := &v.decision
	d.Code, d.Reason = v.refusal.code, v.refusal.reason
	action := sdk.Deny
	if d.Action == sdk.RequireApproval && isAnswer(v.refusal.code) {
		action = d.Action // a person's answer: the level that asked for it stays visible
	}
	d.Action = action
	d.Chain = append(d.Chain, run.ChainLink{Source: sourceOf(v.refusal), Action: sdk.Deny, Reason: v.refusal.reason})
}

func isAnswer(code run.DenialCode) bool {
	return code == run.DeniedApproval || code == run.DeniedExpired || code == run.DeniedCancelled
}

func sourceOf(r *refusal) string {
	switch {
	case r.source != "":
		return r.source
	case isAnswer(r.code):
		return "approval"
	}
	return "gate"
}

func (v Verdict) outcome() run.CallOutcome {
	return run.CallOutcome{
		Content: v.refusal.text, IsError: true, Denied: v.refusal.code, Citations: []string{}, Decision: v.decision,
	}
}
