package gate

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Recheck judges a call once more, before a person's approval of it is taken: nil when today's policy and tools still
// say that exactly this call may run, else a *run.Error with CodeApprovalStale or CodePolicyDenied. Any other error
// means that nobody could tell.
func (g *Gate) Recheck(ctx context.Context, r run.Run, approval run.Approval) error {
	v := g.Check(ctx, run.Call{
		Fence: r.Fence(), SessionID: r.SessionID, Identity: r.Request.Identity, ToolPolicy: r.Request.ToolPolicy,
		ID: approval.ToolCallID, Tool: approval.ToolName, Args: approval.Args,
	})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	switch {
	case v.Denied() && isStale(v.refusal.code):
		return refusedApproval(run.CodeApprovalStale, "The tool changed after approval was asked for.")
	case v.Denied():
		return refusedApproval(run.CodePolicyDenied, "Policy does not allow this call any more.")
	case v.tool.Digest != approval.ToolDigest, v.ArgsDigest() != approval.ArgsDigest, v.decision.Scope.Empty:
		return refusedApproval(run.CodeApprovalStale, "The call or its tool changed after approval was asked for.")
	}
	return nil
}

func isStale(code run.DenialCode) bool {
	return code == run.DeniedUnknownTool || code == run.DeniedInvalidArgs
}

func refusedApproval(code run.Code, sentence string) error {
	return &run.Error{Code: code, Sentence: sentence, Op: "recheck approval"}
}
