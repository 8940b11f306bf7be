package agenttools

import (
	"encoding/json"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/run"
)

// What leaves has exactly these objects, their keys in this order. A result and a snapshot of research are encoded where
// they are kept, and leave as they are.

// The contracts of the documents.
const (
	errorContract   = "labfy.workspace.error.v1"
	sessionContract = "labfy.workspace.session.v1"
	toolContract    = "labfy.agent_tool_protocol.v1"
	transport       = "HTTP_POLLING" // there is no stream
)

// problem is the body of every refusal.
type problem struct {
	Contract string   `json:"contract"`
	Error    run.Code `json:"error"`
	Message  string   `json:"message"`
}

// sessionDocument is what the page may know of its session.
type sessionDocument struct {
	Contract          string         `json:"contract"`
	CSRF              string         `json:"csrf"`
	Origin            string         `json:"origin"`
	WorkspaceState    workspaceState `json:"workspace_state"`
	ActiveWorkspaceID *string        `json:"active_workspace_id"`
	Workspaces        []string       `json:"workspaces"`
	InstanceID        string         `json:"instance_id"`
	ExpiresAt         string         `json:"expires_at"`
}

// workspaceState says whether a workspace is active.
type workspaceState string

const (
	readyWorkspace workspaceState = "READY"
	noWorkspace    workspaceState = "EMPTY"
)

// catalog lists the tools.
type catalog struct {
	Contract  string       `json:"contract"`
	Version   int          `json:"version"`
	Transport string       `json:"transport"`
	Tools     []descriptor `json:"tools"`
}

// descriptor tells of one tool. The page derives nothing of it from the tool's name.
type descriptor struct {
	ToolID                   string          `json:"tool_id"`
	ToolVersion              string          `json:"tool_version"`
	CapabilityID             string          `json:"capability_id"`
	CapabilityVersion        string          `json:"capability_version"`
	Title                    string          `json:"title"`
	Description              string          `json:"description"`
	InputSchema              json.RawMessage `json:"input_schema"`
	OutputContract           string          `json:"output_contract"`
	ActionClass              string          `json:"action_class"`
	NetworkContact           string          `json:"network_contact"`
	AuthorizationRequirement string          `json:"authorization_requirement"`
	RiskClass                string          `json:"risk_class"`
	CostClass                string          `json:"cost_class"`
	Availability             string          `json:"availability"`
	UnavailableReason        *string         `json:"unavailable_reason"`
}

func toDescriptor(d gateway.Descriptor) descriptor {
	return descriptor{
		d.ToolID, d.ToolVersion, d.CapabilityID, d.CapabilityVersion, d.Title, d.Description, d.InputSchema,
		d.OutputContract, d.ActionClass, d.NetworkContact, d.AuthorizationRequirement, d.RiskClass, d.CostClass,
		d.Availability, orNull(d.UnavailableReason),
	}
}

// startedTurn is a turn of the deterministic agent that has gone as far as it may alone.
type startedTurn struct {
	Contract     string          `json:"contract"`
	TurnID       string          `json:"turn_id"`
	State        gateway.State   `json:"state"`
	ResearchPlan json.RawMessage `json:"research_plan"` // null when nothing was prepared
}

// resumedTurn is one that went on.
type resumedTurn struct {
	Contract string        `json:"contract"`
	TurnID   string        `json:"turn_id"`
	State    gateway.State `json:"state"`
}

// callReply names what came of a call.
type callReply struct {
	Contract string        `json:"contract"`
	TurnID   string        `json:"turn_id"`
	CallID   string        `json:"call_id"`
	ResultID string        `json:"result_id"`
	ToolID   string        `json:"tool_id"`
	State    gateway.State `json:"state"`
	Replayed bool          `json:"replayed"`
}

// eventPage is what happened after a cursor.
type eventPage[E any] struct {
	Contract  string `json:"contract"`
	Transport string `json:"transport"`
	Cursor    int64  `json:"cursor"`
	Events    []E    `json:"events"`
	Gap       bool   `json:"gap,omitempty"` // older ones are gone
}

// event is one step of a turn or a call.
type event struct {
	Contract   string          `json:"contract"`
	Sequence   int64           `json:"sequence"`
	Timestamp  string          `json:"timestamp"`
	Kind       gateway.Kind    `json:"kind"`
	TurnID     string          `json:"turn_id"`
	CallID     *string         `json:"call_id"`
	ObjectRefs []objectRef     `json:"object_refs"`
	Payload    json.RawMessage `json:"payload"`
}

func toEvent(e gateway.Event) event {
	refs := []objectRef{}
	for _, id := range e.ObjectRefs {
		refs = append(refs, objectRef{id})
	}
	return event{toolContract, e.Sequence, run.Stamp(e.At), e.Kind, e.TurnID, orNull(e.CallID), refs, e.Payload}
}

// objectRef names an object of the workspace.
type objectRef struct {
	ObjectID string `json:"object_id"`
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
