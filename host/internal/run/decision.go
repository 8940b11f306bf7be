package run

import (
	"encoding/json"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// ToolMode says which tools a run may see and execute.
type ToolMode string

// The tool modes. An unknown mode never gets this far: it is refused at the door.
const (
	Unrestricted ToolMode = ""
	NoTools      ToolMode = "none"
	Allowlist    ToolMode = "allowlist"
)

// ToolPolicy is a run's own bound, chosen by the caller. It holds in the schemas shown to the model and at
// execution.
type ToolPolicy struct {
	Mode    ToolMode   `json:"mode"`
	Allowed []string   `json:"allowed_tools"` // registered names, sorted, unique
	Scope   *sdk.Scope `json:"scope,omitempty"`

	Budget map[string]int `json:"tool_budget,omitempty"`  // calls of a tool in one run, by registered name; absent = no bound
	Hidden []string       `json:"hidden_tools,omitempty"` // names, registered or raw, that the run never sees, whatever Allowed says

	Profile    string `json:"profile,omitempty"`    // the run's profile: it opens the tools reserved for it. Never a client's word.
	Unattended bool   `json:"unattended,omitempty"` // nobody can be asked: a call that needs approval is denied
}

// Source says what kind of plugin a tool comes from.
type Source string

// The sources of tools.
const (
	FromWasm   Source = "wasm"
	FromMCP    Source = "mcp"
	FromNative Source = "native"
)

// Tool is what the house knows about one tool. It cannot run it: only the gate can.
type Tool struct {
	Name        string // registered name
	Server      string // MCP server; empty for others
	RawName     string // name at its source; equals Name for tools without a server
	Description string
	Schema      json.RawMessage
	Source      Source
	Plugin      string // plugin's name
	Scoped      bool   // the run's scope is injected
	TrustedText bool   // non-JSON results pass under a hard scope
	Digest      string // of definition and endpoint: changes when either does
	Profile     string // reserved for runs of this profile; empty: for all
	Asks        bool   // always needs a person's approval, whatever the rules allow
	Idempotent  bool   // two calls with one key do what one does: the operator says so, or the house of its own tools
}

// Call is a model's wish that became a call of a run.
type Call struct {
	Fence      Fence
	SessionID  string
	Identity   sdk.Identity
	ToolPolicy ToolPolicy
	ID         string
	Tool       string          // registered name
	Key        string          // the same for every try of one call; see sdk.Call
	Spent      int             // earlier calls of the tool in this run that were let through
	Args       json.RawMessage // a JSON object, as the model wrote it
	Timeout    time.Duration   // of the call; 0, and more than the gate's: the gate's
	Workspace  string          // id of the configured folder it works on; empty: the identity's. Never a client's word.
	Unkept     bool            // its face keeps no runs: only audit records of it are stored, and its fence is not asked
}

// Level is the seed's word for an action's severity.
type Level string

// The four levels.
const (
	Safe      Level = "safe"
	CautionLv Level = "caution"
	Danger    Level = "danger"
	Forbidden Level = "forbidden"
)

// LevelOf translates an action: allow→safe, caution→caution, require_approval→danger, anything else→forbidden.
func LevelOf(a sdk.Action) Level {
	switch a {
	case sdk.Allow:
		return Safe
	case sdk.Caution:
		return CautionLv
	case sdk.RequireApproval:
		return Danger
	}
	return Forbidden
}

// Decision is the gate's word on one call. The zero value denies.
type Decision struct {
	Action        sdk.Action   `json:"action"`
	Code          DenialCode   `json:"code,omitempty"` // why it is denied, stable
	Reason        string       `json:"reason"`
	Pattern       string       `json:"pattern_matched,omitempty"`
	PolicyScope   string       `json:"policy_scope"`  // such as tool:exec, tenant:pska, default, builtin
	PolicyAction  sdk.Action   `json:"policy_action"` // the action of the rule that matched
	PolicyMatched bool         `json:"policy_matched"`
	Chain         []ChainLink  `json:"chain"`
	Scope         ScopeOutcome `json:"scope"`
	Plugins       []PluginUse  `json:"plugins,omitempty"` // plugins that spoke
	PolicyHash    string       `json:"policy_hash,omitempty"`
}

// Level is the decision's severity.
func (d Decision) Level() Level { return LevelOf(d.Action) }

// ChainLink is one opinion in the order it was heard.
type ChainLink struct {
	Source string     `json:"source"`
	Action sdk.Action `json:"action"`
	Reason string     `json:"reason"`
}

// PluginDigest names a plugin that spoke and the code it was.
type PluginDigest struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// PluginUse is a plugin that spoke about one call, and what that cost. The same code asked the same costs the same.
type PluginUse struct {
	PluginDigest
	Gas int64 `json:"gas,omitempty"` // instructions, weighed; 0 = the plugin is not metered
}

// ScopeOutcome says what the scope did to a call's arguments.
type ScopeOutcome struct {
	Applied    bool     `json:"applied,omitempty"`
	Empty      bool     `json:"empty,omitempty"` // nothing asked for lies inside: answered locally
	Narrowed   []string `json:"narrowed,omitempty"`
	Unverified []string `json:"unverified,omitempty"`
}

// DenialCode says why a call was denied.
type DenialCode string

// The denial codes of the gate itself. A plugin failure has its own: see the plugin codes below.
const (
	DeniedNoTools      DenialCode = "tool_policy_none"
	DeniedNotAllowed   DenialCode = "tool_policy_not_allowed"
	DeniedHidden       DenialCode = "tool_policy_hidden"
	DeniedBudget       DenialCode = "tool_budget_used"
	DeniedUnattended   DenialCode = "nobody_to_ask" // it needs a person, and the run has none
	DeniedUnknownTool  DenialCode = "unknown_tool"
	DeniedByPolicy     DenialCode = "policy_denied"
	DeniedTampered     DenialCode = "scope_plugin_tampered"
	DeniedScope        DenialCode = "scope_failed"
	DeniedAudit        DenialCode = "audit_failed"
	DeniedApproval     DenialCode = "approval_denied"
	DeniedExpired      DenialCode = "approval_expired"
	DeniedStale        DenialCode = "approval_stale"
	DeniedCancelled    DenialCode = "cancelled"
	DeniedInvalidArgs  DenialCode = "invalid_tool_args"
	PluginTrapped      DenialCode = "plugin_trap"
	PluginTimedOut     DenialCode = "plugin_timeout"
	PluginOutOfMemory  DenialCode = "plugin_out_of_memory"
	PluginBadAnswer    DenialCode = "plugin_bad_answer"
	PluginBadVerdict   DenialCode = "plugin_unknown_verdict"
	PluginNoAnswer     DenialCode = "plugin_no_answer"
	PluginUnavailable  DenialCode = "plugin_unavailable"
	PluginOutputTooBig DenialCode = "plugin_output_too_large"

	PluginOutOfGas         DenialCode = "plugin_out_of_gas"
	PluginStackOverflow    DenialCode = "plugin_stack_overflow"
	PluginTooManyHostCalls DenialCode = "plugin_too_many_host_calls"
	PluginBusy             DenialCode = "plugin_busy" // no instance or no memory came free in time
)
