package agent

import (
	"cmp"
	"time"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// startEvent opens the story: the question, and what the run may see.
func (d *drive) startEvent(visible []run.Tool, begins start) run.Event {
	names := []string{}
	for _, tool := range visible {
		names = append(names, tool.Name)
	}
	metadata := map[string]any{"tool_policy": policyObject(d.policy), "visible_tools": names}
	if profile := cmp.Or(d.profile.Name, d.run.Request.Profile); profile != "" {
		metadata["profile"] = profile
	}
	if begins.Usage != nil {
		metadata["llm_usage"] = begins.Usage
	}
	begins.describe(metadata)
	if d.run.Request.SessionMemory {
		begins.describeMemory(metadata)
	}
	return run.Event{Kind: run.SessionStart, Content: d.run.Request.Query(), Metadata: object(metadata)}
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
	metadata := map[string]any{
		"request_id":      approval.ID,
		"decision_level":  decision.Level(),
		"timeout_seconds": seconds(approval.Timeout),
		"expires_at":      timestamp(approval.ExpiresAt),
		"policy_scope":    orNull(decision.PolicyScope),
		"policy_action":   orNull(string(decision.PolicyAction)),
		"policy_matched":  decision.PolicyMatched,
		"args_digest":     approval.ArgsDigest,
	}
	if approval.Kind == run.UnknownOutcome {
		metadata["kind"], metadata["choices"] = approval.Kind, run.Choices()
	}
	return run.Event{
		Kind: run.AskUser, Content: approval.Reason, ToolName: approval.ToolName, ToolArgs: approval.Args,
		ToolCallID: approval.ToolCallID, ApprovalID: approval.ID, Metadata: object(metadata),
	}
}

// endEvent carries the answer. deltas is how many parts of it were released before.
func (d *drive) endEvent(said answer, usage *run.Usage, deltas int) run.Event {
	metadata := map[string]any{
		"timing":          map[string]any{"duration_ms": milliseconds(d.age())},
		"llm_usage_total": usage,
		"stop_reason":     said.reason,
	}
	if said.check != nil {
		metadata["answer_check"] = said.check
	}
	if d.run.Request.StreamDeltas {
		metadata["answer_deltas"] = deltas
	}
	return run.Event{Kind: run.SessionEnd, Content: said.text, Metadata: object(metadata)}
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
