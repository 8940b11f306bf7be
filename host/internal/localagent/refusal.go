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

// refuse returns the error of a code. What a client reads of it is the face's.
func refuse(op string, code run.Code) error { return &run.Error{Code: code, Op: op} }
