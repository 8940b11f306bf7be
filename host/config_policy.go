package host

import "time"

// PolicyConfig says what may run. Every loaded policy plugin may tighten it, none may loosen it.
type PolicyConfig struct {
	DefaultAction string `key:"default_action" default:"" enum:"|allow|caution|require_approval|deny" about:"Action for tools without a rule; empty lets the built-in heuristics decide."`
	ToolRules     Rules  `key:"tool_rules" about:"Rules by tool name."`
	UserRules     Rules  `key:"user_rules" about:"Rules by user key; they come before the rules of the tenant."`
	TenantRules   Rules  `key:"tenant_rules" about:"Rules by tenant key; they come before the rules of the tool."`
}

// Rules maps a name to a rule: an action, {action: …}, or {tools: {name: …}, action: …}. Its values are strings and
// map[string]any, and the loader has checked that every action is one.
type Rules map[string]any

// ApprovalsConfig says how calls wait for a person.
type ApprovalsConfig struct {
	Timeout time.Duration `key:"timeout" default:"300s" min:"1ms" max:"720h" about:"How long a call waits for an answer; unanswered calls are denied."`
	Self    bool          `key:"self" default:"false" about:"Whether users may answer their own approvals."`
}
