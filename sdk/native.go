package sdk

import (
	"context"
	"encoding/json"
)

// Native is a plugin that lives in the host's process, such as the MCP bridge. Its tools stand under the same gate
// as every other tool: the host alone calls Invoke, and only after a decision.
type Native interface {
	// Name is the plugin's name, such as "mcpbridge".
	Name() string
	// Tools makes sure that the plugin's sources are loaded, waiting no longer than ctx allows, and returns the
	// tools that work now. A source that fails is left out and shows in Status; it never hides the others.
	Tools(ctx context.Context) []NativeTool
	// Invoke runs one tool by its registered name. An error is a failed transport or source; a failure that the
	// tool itself reports is a Result with IsError. The text of an error stays private; one that has a method
	// SafeSentence() string offers words that model and client may read, and one whose method OutcomeUnknown() bool
	// returns true says that the tool may have taken effect.
	Invoke(ctx context.Context, registered string, call Call) (Result, error)
	// Status reports each source without blocking.
	Status() []SourceStatus
	// Close stops every source and waits for it.
	Close() error
}

// NativeTool is one tool of a native plugin.
type NativeTool struct {
	Name        string          // registered name, unique and provider-safe: [a-zA-Z0-9_-]{1,64}
	Server      string          // the source it comes from, such as the MCP server's name
	RawName     string          // the name at its source
	Description string          // shown to the model
	InputSchema json.RawMessage // JSON Schema exactly as the source sent it
	Scope       bool            // the run's scope is injected into its arguments
	TrustedText bool            // a result that is no JSON may pass under a hard scope
	Endpoint    string          // digest of where the source lives; no secret in it
	Profile     string          // reserved for runs of this profile; empty: for all
}

// SourceStatus is the health of one source of a native plugin.
type SourceStatus struct {
	Name        string   `json:"name"`
	Alive       bool     `json:"alive"`
	Transport   string   `json:"transport"`
	Isolation   string   `json:"isolation"`
	Loaded      bool     `json:"loaded"`
	ToolCount   int      `json:"tool_count"`
	LastError   string   `json:"last_error,omitempty"` // one safe sentence, no secrets
	Quarantined []string `json:"quarantined"`          // raw names of tools that were refused
}
