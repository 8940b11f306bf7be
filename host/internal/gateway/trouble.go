package gateway

import "github.com/fastreact/fastreact/host/internal/run"

// trouble is the stable code of why a call did not go well, or of why a tool does not work. Empty: nothing is wrong.
// Tools, the gate and the host give codes; what clients read is this table's sentence alone.
type trouble string

// The troubles that this room finds itself.
const (
	noWorkspace    trouble = "no_workspace"
	notLoaded      trouble = "unknown_tool"
	toolFailed     trouble = "tool_failed"
	unreadable     trouble = "unreadable_answer"
	tooLate        trouble = "too_late"
	shuttingDown   trouble = "shutting_down"
	resultTooLarge trouble = "result_too_large"
)

// diagnosis is the state of a call that is in trouble, and the sentence that says why.
type diagnosis struct {
	state    State
	sentence string
}

// diagnose looks a trouble up. One that nobody wrote down is a failure without a story.
func diagnose(t trouble) diagnosis {
	if known, is := diagnoses()[t]; is {
		return known
	}
	return diagnosis{Failed, "The tool failed."}
}

func diagnoses() map[trouble]diagnosis {
	return map[trouble]diagnosis{
		noWorkspace:    {Unavailable, "No workspace is active."},
		notLoaded:      {Unavailable, "The tool is not loaded."},
		toolFailed:     {Failed, "The tool failed."},
		unreadable:     {Failed, "The tool gave an answer that cannot be read."},
		tooLate:        {Failed, "The tool did not answer in time."},
		shuttingDown:   {Failed, "The service stopped before the tool had answered."},
		resultTooLarge: {Failed, "The result is larger than this service keeps."},

		"object_unknown":     {Failed, "This workspace has no object of this id."},
		"job_unknown":        {Failed, "This workspace has no job of this id."},
		"snapshot_missing":   {Unavailable, "The workspace has no snapshot."},
		"snapshot_invalid":   {Unavailable, "The workspace's snapshot cannot be read."},
		"snapshot_too_large": {Unavailable, "The workspace's snapshot is larger than this service reads."},
		"plugin_loading":     {Unavailable, "The tool is still being loaded."},
		"plugin_failed":      {Unavailable, "The tool could not be loaded."},

		"research_invalid":     {Failed, "The research desk could not read this request."},
		"research_refused":     {Failed, "The research desk refused this request."},
		"research_limit":       {Failed, "The research desk keeps no more plans."},
		"research_unavailable": {Unavailable, "The research desk cannot read the workspace now."},
		"workspace_none":       {Unavailable, "No workspace is active."},
	}
}

// denials says what a call's denial at the gate is here. Every code that is not listed is a denial as well.
func denials() map[run.DenialCode]diagnosis {
	return map[run.DenialCode]diagnosis{
		run.DeniedUnknownTool: diagnose(notLoaded),
		run.DeniedInvalidArgs: {Failed, "The tool does not take this input; it did not run."},
		run.DeniedApproval:    {AuthorizationRequired, "A person has to approve this call; it did not run."},
		run.DeniedByPolicy:    {Denied, "Policy denies this call; it did not run."},
		run.DeniedAudit:       {Denied, "The decision could not be recorded; the call did not run."},
		run.DeniedStale:       {Denied, "The tool changed while the call was judged; it did not run."},
		run.DeniedCancelled:   {Failed, "Nobody decided about this call in time; it did not run."},
	}
}

// denied diagnoses a denial.
func denied(code run.DenialCode) diagnosis {
	if known, is := denials()[code]; is {
		return known
	}
	return diagnosis{Denied, "The call is denied; it did not run."}
}
