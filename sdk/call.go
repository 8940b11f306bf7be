package sdk

import (
	"encoding/json"
	"time"
)

// Identity says on whose behalf a call is made. The host fills it from the credential and the run; nothing in it
// comes from the model.
type Identity struct {
	UserKey      string   `json:"user_key"`                // caller and user, such as "pska:user_primary"
	TenantKey    string   `json:"tenant_key"`              // tenant, such as "pska"; empty means none
	UserID       string   `json:"user_id"`                 // the knowledge system's user id, such as "user_primary"
	Caller       string   `json:"caller,omitempty"`        // calling program, such as "pska"
	Purpose      string   `json:"purpose,omitempty"`       // qa, report, review, memory, job
	SystemKey    string   `json:"system_key,omitempty"`    // calling system
	Roles        []string `json:"roles,omitempty"`         // roles of the credential
	AuthProvider string   `json:"auth_provider,omitempty"` // how the caller proved itself
}

// Call is one invocation of a tool. Args is a JSON object, exactly what policy judged.
type Call struct {
	Tool     string          `json:"tool"` // the tool's own name, without a server prefix
	Args     json.RawMessage `json:"args"`
	Identity Identity        `json:"identity"`
	Scope    *Scope          `json:"scope,omitempty"`
	RunID    string          `json:"run_id"`
	CallID   string          `json:"call_id"`
	Deadline time.Time       `json:"deadline,omitzero"` // when the host ends the call; zero: the plugin is not told
	// Workspace is the id of a configured workspace folder that the call works on; empty: the folder of its identity.
	// The host chooses it, never a client or a model, and a WebAssembly module finds the folder mounted.
	Workspace string `json:"-"`
	// IdempotencyKey is the same for every try of one call, and no other call ever has it. Whoever keeps it with what the
	// call changed can answer a second try with what came of the first. Native plugins and MCP servers are told it.
	IdempotencyKey string `json:"-"`
}

// Result is what a tool answers. Content is text; Structured is an optional JSON value beside it. When Content is
// empty and Structured is not, the host shows the JSON text.
type Result struct {
	Content    string          `json:"content,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
	Citations  []string        `json:"citations,omitempty"`
	// Whole is the answer of a native plugin's source where Content leaves something of it out, such as an image. It
	// is kept for readers of the event and shown to no model. A WebAssembly module has none.
	Whole json.RawMessage `json:"-"`
}

// Question asks a policy plugin for its opinion on one call.
type Question struct {
	Tool     string          `json:"tool"`               // registered name, such as "pska_pska_search"
	Server   string          `json:"server,omitempty"`   // MCP server, empty for other tools
	RawName  string          `json:"raw_name,omitempty"` // the name at its source, such as "pska_search"
	Args     json.RawMessage `json:"args"`               // after scope injection
	Identity Identity        `json:"identity"`
	Scope    *Scope          `json:"scope,omitempty"`
	Now      time.Time       `json:"now"` // the only clock a policy has
	Static   Opinion         `json:"static"`
}

// Opinion is one voice about a call. Opinions of plugins only tighten: the strictest one wins.
type Opinion struct {
	Action         Action `json:"action"`
	Reason         string `json:"reason,omitempty"`
	PatternMatched string `json:"pattern_matched,omitempty"`
}
