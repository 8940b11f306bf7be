package agent

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// startEvent opens the story: the question, and what the run may see.
func (d *drive) startEvent(visible []run.Tool) run.Event {
	names := []string{}
	for _, tool := range visible {
		names = append(names, tool.Name)
	}
	ignored := []string{} // there are no skills to choose from: every name is unknown
	if d.run.Request.Skills != nil {
		ignored = append(ignored, *d.run.Request.Skills...)
	}
	return run.Event{Kind: run.SessionStart, Content: d.run.Request.Query(), Metadata: object(map[string]any{
		"skills":         []string{},
		"ignored_skills": ignored,
		"tool_policy":    policyObject(d.run.Request.ToolPolicy),
		"visible_tools":  names,
	})}
}

// stepEvent closes one model call.
func stepEvent(reply model.Reply) run.Event {
	return run.Event{Kind: run.StepEnd, Metadata: object(map[string]any{
		"has_tool_calls": len(reply.ToolCalls) > 0,
		"llm_usage":      reply.Usage,
		"model":          orNull(reply.Model),
	})}
}

// askEvent tells a person what waits for them.
func askEvent(approval run.Approval) run.Event {
	decision := approval.Decision
	return run.Event{
		Kind: run.AskUser, Content: approval.Reason, ToolName: approval.ToolName, ToolArgs: approval.Args,
		ToolCallID: approval.ToolCallID, ApprovalID: approval.ID,
		Metadata: object(map[string]any{
			"request_id":      approval.ID,
			"decision_level":  decision.Level(),
			"timeout_seconds": seconds(approval.Timeout),
			"expires_at":      timestamp(approval.ExpiresAt),
			"policy_scope":    orNull(decision.PolicyScope),
			"policy_action":   orNull(string(decision.PolicyAction)),
			"policy_matched":  decision.PolicyMatched,
			"args_digest":     approval.ArgsDigest,
		}),
	}
}

// endEvent carries the answer.
func (d *drive) endEvent(answer, reason string, usage *run.Usage) run.Event {
	return run.Event{Kind: run.SessionEnd, Content: answer, Metadata: object(map[string]any{
		"timing":          map[string]any{"duration_ms": milliseconds(d.age())},
		"llm_usage_total": usage,
		"stop_reason":     reason,
	})}
}

// age is the time since the run was started.
func (d *drive) age() time.Duration {
	since := d.run.CreatedAt
	if d.run.StartedAt != nil {
		since = *d.run.StartedAt
	}
	return max(time.Since(since), 0)
}

// errorEvent ends a run that has no answer.
func errorEvent(ending Ending) run.Event {
	return run.Event{Kind: run.Errored, Content: ending.Text, Metadata: object(map[string]any{
		"error_type": errorType(ending.Code),
		"code":       ending.Code,
		"reason":     ending.Reason,
	})}
}

// errorType is the family of a failure, in the words clients know.
func errorType(code run.Code) string {
	switch code {
	case run.CodeCancelled:
		return "CancelledError"
	case run.CodeTimeout, run.CodeModelTimeout:
		return "TimeoutError"
	case run.CodeModelUnavailable, run.CodeModelSaturated, run.CodeModelProtocol,
		run.CodeModelRefused:
		return "ModelError"
	case run.CodeInterrupted:
		return "InterruptedError"
	}
	return "RuntimeError"
}
