package gateway

import "github.com/fastreact/fastreact/host/internal/run"

// The codes of what a gateway refuses, as they stand on the wire. The face gives each its status.
const (
	CodeInvalid        run.Code = "agent_tool_invalid"
	CodeConflict       run.Code = "agent_tool_idempotency_conflict"
	CodeCapacity       run.Code = "agent_tool_capacity_exhausted"
	CodeResultTooLarge run.Code = "agent_tool_result_too_large"
	CodeResultUnknown  run.Code = "agent_tool_result_unknown"
	CodeTurnUnknown    run.Code = "agent_turn_unknown"
	CodeTurnNotWaiting run.Code = "agent_turn_not_waiting"
	CodeTurnNotGranted run.Code = "agent_turn_not_granted"
	CodeNoWorkspace    run.Code = "workspace_none"
	CodeUnknownSpace   run.Code = "workspace_unknown"
	CodeClosed         run.Code = "agent_tool_closed"
)

// Codes lists every code; the face proves against it that it gives each a status.
func Codes() []run.Code {
	return []run.Code{
		CodeInvalid, CodeConflict, CodeCapacity, CodeResultTooLarge, CodeResultUnknown, CodeTurnUnknown,
		CodeTurnNotWaiting, CodeTurnNotGranted, CodeNoWorkspace, CodeUnknownSpace, CodeClosed,
	}
}

// refuse makes the error of a code. Its sentence is public and says nothing of what the client sent.
func refuse(code run.Code, sentence string) error {
	return &run.Error{Code: code, Sentence: sentence, Op: "agent tool gateway"}
}

func invalid(sentence string) error { return refuse(CodeInvalid, sentence) }
