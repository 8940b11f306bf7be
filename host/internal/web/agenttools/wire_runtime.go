package agenttools

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/run"
)

// The contracts of the runtime's documents.
const (
	statusContract  = "labfy.agent_runtime.status.v1"
	runtimeContract = "labfy.agent_runtime.v1"
)

// runtimeStatus says what stands behind the turns.
type runtimeStatus struct {
	Contract     string          `json:"contract"`
	Mode         localagent.Mode `json:"mode"`
	Configured   bool            `json:"configured"`
	Available    bool            `json:"available"`
	Provider     string          `json:"provider"`
	EndpointKind string          `json:"endpoint_kind"`
	Model        *string         `json:"model"`
	Reason       *string         `json:"reason"`
}

// runtimeTurn is a turn as it is now.
type runtimeTurn struct {
	Contract    string           `json:"contract"`
	TurnID      string           `json:"turn_id"`
	Objective   string           `json:"objective"`
	State       localagent.State `json:"state"`
	Final       *string          `json:"final"`
	Diagnostic  *string          `json:"diagnostic"`
	PendingCall *pendingCall     `json:"pending_call"`
	Budgets     budgets          `json:"budgets"`
}

// pendingCall is what a person has to decide about.
type pendingCall struct {
	ToolID   string `json:"tool_id"`
	ResultID string `json:"result_id"`
}

// budgets is what was used up so far.
type budgets struct {
	ModelCalls int `json:"model_calls"`
	ToolCalls  int `json:"tool_calls"`
}

func toRuntimeTurn(t localagent.Turn) runtimeTurn {
	turn := runtimeTurn{
		Contract: runtimeContract, TurnID: t.ID, Objective: t.Objective, State: t.State,
		Final: orNull(t.Final), Diagnostic: orNull(t.Diagnostic), Budgets: budgets{t.ModelCalls, t.ToolCalls},
	}
	if t.Pending != nil {
		turn.PendingCall = &pendingCall{t.Pending.ToolID, t.Pending.ResultID}
	}
	return turn
}

// runtimeEvent is one thing that happened to a turn.
type runtimeEvent struct {
	Contract  string          `json:"contract"`
	Sequence  int64           `json:"sequence"`
	Timestamp string          `json:"timestamp"`
	Kind      localagent.Kind `json:"kind"`
	TurnID    string          `json:"turn_id"`
	Payload   json.RawMessage `json:"payload"`
}

func toRuntimeEvent(e localagent.Event) runtimeEvent {
	return runtimeEvent{runtimeContract, e.Sequence, run.Stamp(e.At), e.Kind, e.TurnID, e.Payload}
}
