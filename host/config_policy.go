package host

import (
	"errors"
	"time"

	"github.com/fastreact/fastreact/host/internal/policy"
)

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
	Notify  NotifyConfig  `key:"notify" about:"Who is told of approvals."`
}

// rules returns the section in the words of the policy room.
func (c Config) rules() policy.Config {
	return policy.Config{
		DefaultAction: c.Policy.DefaultAction, ToolRules: c.Policy.ToolRules, UserRules: c.Policy.UserRules,
		TenantRules: c.Policy.TenantRules, AllowAll: c.AllowAll,
	}
}

// validatePolicy reports what the policy room refuses.
func (c Config) validatePolicy(report reporter) {
	_, err := policy.Compile(c.rules())
	for _, mistake := range unjoin(err) {
		var refused *policy.ConfigError
		if errors.As(mistake, &refused) {
			report(refused.Path, refused.Problem, "")
		}
	}
}

// unjoin returns the errors that errors.Join joined.
func unjoin(err error) []error {
	if joined, many := err.(interface{ Unwrap() []error }); many {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
