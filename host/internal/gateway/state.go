package gateway

import "encoding/json"

// State is how a call or a turn stands.
type State string

// The six states of the contract. Cancelled is for a contract to come: nothing here can be cancelled yet.
const (
	Completed             State = "COMPLETED"
	Failed                State = "FAILED"
	Denied                State = "DENIED"
	AuthorizationRequired State = "AUTHORIZATION_REQUIRED"
	Unavailable           State = "UNAVAILABLE"
	Cancelled             State = "CANCELLED"
)

// Request is a call as a client asks for it. Nothing in it has been looked at yet.
type Request struct {
	TurnID, ToolID string
	Input          json.RawMessage // a JSON object
	Context        json.RawMessage // a JSON object, null, or nothing
	ObjectRefs     []string        // ids of objects
	Key            string          // idempotency key
	Workspace      string          // that the caller works in: in another nothing happens; empty: the active one
}

// Reply is what a client learns of its call. The result is asked for by its id.
type Reply struct {
	TurnID, CallID, ResultID, ToolID string
	State                            State
	Replayed                         bool // nothing ran: an earlier call with this key and intention is answered again
}

// Result is what came of one call.
type Result struct {
	ID, TurnID, CallID, ToolID string
	State                      State
	Output                     json.RawMessage // a JSON object
	ObjectRefs, ProvenanceRefs []string        // ids of objects
	Diagnostic                 string          // a fixed sentence; empty when there is nothing to say
	PlanID                     string          // of the plan that was prepared for a person's decision; else empty
	Encoded                    json.RawMessage // the whole document as it is served
}

// Turn is one walk of the deterministic agent.
type Turn struct {
	ID           string
	State        State
	ResearchPlan json.RawMessage // output of the prepared research; nil when it did not get that far
}

// Kind says what an event tells.
type Kind string

// The eight kinds of event.
const (
	TurnStarted      Kind = "agent.turn.started"
	PlanUpdated      Kind = "agent.plan.updated"
	ToolRequested    Kind = "agent.tool.requested"
	ToolStarted      Kind = "agent.tool.started"
	ToolCompleted    Kind = "agent.tool.completed"
	AuthorizationAsk Kind = "agent.authorization.required"
	TurnCompleted    Kind = "agent.turn.completed"
	AgentError       Kind = "agent.error"
)
