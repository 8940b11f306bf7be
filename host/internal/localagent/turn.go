package localagent

import (
	"encoding/json"
	"time"
)

// State is where a turn stands.
type State string

// The states of a turn. All but the first three are final.
const (
	Queued                State = "QUEUED"
	Running               State = "RUNNING"
	AuthorizationRequired State = "AUTHORIZATION_REQUIRED"
	Completed             State = "COMPLETED"
	Failed                State = "FAILED"
	Cancelled             State = "CANCELLED"
	ModelUnavailable      State = "MODEL_UNAVAILABLE"
	ModelProtocolError    State = "MODEL_PROTOCOL_ERROR"
	BudgetExhausted       State = "BUDGET_EXHAUSTED"
)

// Final reports whether a turn in this state never changes again.
func (s State) Final() bool { return s != Queued && s != Running && s != AuthorizationRequired }

// Turn is one objective and what came of it, as it was when it was asked for.
type Turn struct {
	ID         string // a UUID
	Objective  string
	State      State
	Final      string   // the model's last word, untrusted; only when Completed
	Diagnostic string   // one fixed sentence; only in states of failure
	Pending    *Pending // the call that waits for a person; only when AuthorizationRequired
	ModelCalls int      // made so far
	ToolCalls  int      // made so far
}

// Pending is a call whose result a person has to decide about.
type Pending struct {
	ToolID   string
	ResultID string
}

// Kind is what an event tells.
type Kind string

// The kinds of event. There is one for every final state.
const (
	KindQueued                Kind = "agent.runtime.queued"
	KindRunning               Kind = "agent.runtime.running"
	KindToolRequested         Kind = "agent.runtime.tool_requested"
	KindToolCompleted         Kind = "agent.runtime.tool_completed"
	KindAuthorizationRequired Kind = "agent.runtime.authorization_required"
	KindResumed               Kind = "agent.runtime.resumed"
	KindModelRepairRequested  Kind = "agent.runtime.model_repair_requested"
	KindCompleted             Kind = "agent.runtime.completed"
	KindFailed                Kind = "agent.runtime.failed"
	KindCancelled             Kind = "agent.runtime.cancelled"
	KindModelUnavailable      Kind = "agent.runtime.model_unavailable"
	KindModelProtocolError    Kind = "agent.runtime.model_protocol_error"
	KindBudgetExhausted       Kind = "agent.runtime.budget_exhausted"
)

// Event is one thing that happened to a turn. Its payload is a small JSON object that holds no text of the model.
type Event struct {
	Sequence int64 // ascending, from 1; never used twice in one runtime
	At       time.Time
	Kind     Kind
	TurnID   string
	Payload  json.RawMessage
}

// Page is what happened after a cursor, oldest first.
type Page struct {
	Cursor int64 // ask with it for what comes next
	Events []Event
	Gap    bool // events after the asked cursor were given up for newer ones
}

// Mode says who plays the model.
type Mode string

// The modes. Both are driven by the same engine.
const (
	Demo       Mode = "deterministic-demo"
	LocalModel Mode = "local-model"
)

// Status says what stands behind the turns.
type Status struct {
	Mode         Mode
	Configured   bool   // there is a model
	Available    bool   // it could be asked now, as far as can be known without asking it
	Provider     string // "deterministic-demo" or "openai-compatible-local"
	EndpointKind string // "none" or "loopback"
	Model        string // its name; empty for the demo
	Reason       string // one fixed sentence why it is not available
}
