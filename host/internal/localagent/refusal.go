package localagent

import "github.com/fastreact/fastreact/host/internal/run"

// The codes of what a runtime refuses.
const (
	CodeInvalid    run.Code = "agent_runtime_invalid"
	CodeUnknown    run.Code = "agent_runtime_unknown"
	CodeNotWaiting run.Code = "agent_runtime_not_waiting"
	CodeNotGranted run.Code = "agent_runtime_not_granted"
	CodeQueueFull  run.Code = "agent_runtime_queue_full"
	CodeCapacity   run.Code = "agent_runtime_capacity_exhausted"
	CodeConflict   run.Code = "agent_runtime_idempotency_conflict"
	CodeClosed     run.Code = "agent_runtime_closed"
	CodeNoneActive run.Code = "workspace_none" // the gateway's code for the same
)

// Codes lists the codes of a runtime; a face proves against it that it translates each one.
func Codes() []run.Code {
	return []run.Code{
		CodeInvalid, CodeUnknown, CodeNotWaiting, CodeNotGranted, CodeQueueFull, CodeCapacity, CodeConflict, CodeClosed,
		CodeNoneActive,
	}
}

// refuse returns the error of a code. Its sentence is fixed.
func refuse(op string, code run.Code) error {
	return &run.Error{Code: code, Sentence: sentence(code), Op: op}
}

func sentence(code run.Code) string {
	switch code {
	case CodeInvalid:
		return "The objective is a text of 1 to 512 characters, and the key one of at most 128."
	case CodeUnknown:
		return "There is no such turn in the active workspace."
	case CodeNotWaiting:
		return "This turn does not wait for a decision."
	case CodeNotGranted:
		return "No person has granted what this turn waits for, or no campaign was admitted under the grant."
	case CodeQueueFull:
		return "Too many turns wait already."
	case CodeCapacity:
		return "Too many turns are unfinished."
	case CodeConflict:
		return "The idempotency key was used for another objective."
	case CodeClosed:
		return "The agent takes no more turns."
	}
	return "No workspace is active."
}
