package policy

import (
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// GuardSource is how the exec guard's opinion is named in a decision's chain.
const GuardSource = "builtin:exec-guard"

// Subject is what the static rules look at.
type Subject struct {
	Tool      run.Tool // a tool that does not exist is judged by its name
	UserKey   string
	TenantKey string       // empty = no tenant; whoever infers it from UserKey does so before: see TenantOf
	Guard     *sdk.Opinion // the exec guard's opinion; nil when it did not want the call
}

// TenantOf returns the tenant that was given, else "the prefix before : in user_key", else none.
func TenantOf(userKey, given string) string {
	if given != "" {
		return given
	}
	tenant, _, found := strings.Cut(userKey, ":")
	if !found {
		return ""
	}
	return tenant
}

// Decide returns the static part of a decision: built-in forbidden patterns, user_rules, tenant_rules, tool_rules,
// default_action, built-in heuristics; the first that speaks decides. Plugins may only tighten it.
func (r *Rules) Decide(s Subject) run.Decision {
	if r.allowAll {
		return ruled("allow_all", sdk.Allow, nil)
	}
	var heard []run.ChainLink
	if s.Guard != nil {
		heard = []run.ChainLink{{Source: GuardSource, Action: s.Guard.Action, Reason: s.Guard.Reason}}
		if run.LevelOf(s.Guard.Action) == run.Forbidden {
			return guarded(*s.Guard, heard)
		}
	}
	if scope, action, matched := r.match(s); matched {
		return ruled(scope, action, heard)
	}
	if s.Guard != nil {
		return guarded(*s.Guard, heard)
	}
	return heuristic(s.Tool)
}

// match finds the configured rule that decides.
func (r *Rules) match(s Subject) (scope string, action sdk.Action, matched bool) {
	names := []string{s.Tool.Name, s.Tool.RawName}
	if action, _, ok := r.users[s.UserKey].about(names); ok {
		return "user:" + s.UserKey, action, true
	}
	if action, _, ok := r.tenants[s.TenantKey].about(names); ok && s.TenantKey != "" {
		return "tenant:" + s.TenantKey, action, true
	}
	if action, name, ok := r.tools.about(names); ok {
		return "tool:" + name, action, true
	}
	return "default", r.fallback, r.fallback != ""
}

// ruled is the decision of a configured rule.
func ruled(scope string, action sdk.Action, heard []run.ChainLink) run.Decision {
	reason := "Policy " + scope + " " + Phrase(action)
	return run.Decision{
		Action: action, Code: codeOf(action), Reason: reason,
		PolicyScope: scope, PolicyAction: action, PolicyMatched: true,
		Chain: append(heard, run.ChainLink{Source: "rule:" + scope, Action: action, Reason: reason}),
	}
}

// guarded is the exec guard's word as the decision.
func guarded(opinion sdk.Opinion, heard []run.ChainLink) run.Decision {
	action := sdk.Stricter(opinion.Action, opinion.Action)
	reason := opinion.Reason
	if reason == "" {
		reason = "Built-in exec guard " + Phrase(action)
	}
	return run.Decision{
		Action: action, Code: codeOf(action), Reason: reason, Pattern: opinion.PatternMatched,
		PolicyScope: "builtin", Chain: heard,
	}
}

// heuristic is the decision when nobody else has spoken. Names of file tools are trusted only where they are not an
// MCP server's; exec without a guard's opinion is dangerous.
func heuristic(tool run.Tool) run.Decision {
	action := sdk.Caution
	switch {
	case tool.Name == "exec" || tool.RawName == "exec":
		action = sdk.RequireApproval
	case tool.Server != "":
	case tool.Name == "read_file", tool.Name == "list_files", tool.Name == "glob_files", tool.Name == "grep_files",
		tool.Name == "read_result": // a run's own results, which it has seen the beginning of
		action = sdk.Allow
	}
	reason := "Built-in heuristic " + Phrase(action)
	return run.Decision{
		Action: action, Reason: reason, PolicyScope: "builtin",
		Chain: []run.ChainLink{{Source: "builtin:heuristic", Action: action, Reason: reason}},
	}
}

// Phrase ends the sentence "Policy tool:exec …". An unknown action denies.
func Phrase(action sdk.Action) string {
	switch action {
	case sdk.Allow:
		return "allows tool"
	case sdk.Caution:
		return "allows with caution"
	case sdk.RequireApproval:
		return "requires approval"
	}
	return "denies tool"
}

func codeOf(action sdk.Action) run.DenialCode {
	if run.LevelOf(action) == run.Forbidden {
		return run.DeniedByPolicy
	}
	return ""
}
