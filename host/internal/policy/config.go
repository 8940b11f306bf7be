// Package policy decides about calls and does nothing else: it promises that the same rules, call and opinions always
// give the same decision, that whatever it does not understand denies, and that no argument leaves a run's scope.
//
// It is pure. Asking plugins, waiting for people and running tools is left to the gate.
package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Config is the policy section as it was decoded. A rule is an action, {action}, or, for users and tenants,
// {tools: {name or "*": action or {action}}, action}. An empty DefaultAction means that there is none.
type Config struct {
	DefaultAction string
	ToolRules     map[string]any
	UserRules     map[string]any
	TenantRules   map[string]any
	AllowAll      bool // a start flag: no forbidden patterns, no rules
}

// ConfigError is one mistake in a policy config.
type ConfigError struct {
	Path    string // such as policy.tool_rules.exec
	Problem string
}

// Error names the key and the problem.
func (e *ConfigError) Error() string { return e.Path + ": " + e.Problem }

// Compile checks the whole config and returns its rules. The error joins one *ConfigError for each mistake.
func Compile(cfg Config) (*Rules, error) {
	c := &compiler{}
	rules := &Rules{
		allowAll: cfg.AllowAll,
		fallback: c.fallback(cfg.DefaultAction),
		tools:    rule{tools: c.tools("policy.tool_rules", cfg.ToolRules)},
		users:    c.owners("policy.user_rules", cfg.UserRules),
		tenants:  c.owners("policy.tenant_rules", cfg.TenantRules),
	}
	if err := errors.Join(c.mistakes...); err != nil {
		return nil, err
	}
	return rules, nil
}

// compiler gathers every mistake instead of stopping at the first.
type compiler struct{ mistakes []error }

func (c *compiler) wrong(path, format string, args ...any) {
	c.mistakes = append(c.mistakes, &ConfigError{Path: path, Problem: fmt.Sprintf(format, args...)})
}

func (c *compiler) fallback(text string) sdk.Action {
	if text == "" {
		return ""
	}
	return c.action("policy.default_action", text)
}

func (c *compiler) owners(path string, tree map[string]any) map[string]rule {
	owners := map[string]rule{}
	for _, key := range sortedKeys(tree) {
		if key == "" || key == "*" {
			c.wrong(path+"."+key, "name one user or tenant; for everybody use policy.tool_rules")
			continue
		}
		owners[key] = c.rule(path+"."+key, tree[key])
	}
	return owners
}

// rule reads any of the three forms.
func (c *compiler) rule(path string, value any) rule {
	form, isMap := value.(map[string]any)
	if !isMap {
		return rule{every: c.action(path, value)}
	}
	c.knownKeys(path, form, "action", "tools")
	var r rule
	if action, given := form["action"]; given {
		r.every = c.action(path+".action", action)
	}
	if tools, given := form["tools"]; given {
		tree, isMap := tools.(map[string]any)
		if !isMap {
			c.wrong(path+".tools", "must map tool names to actions, not %s", kindOf(tools))
		}
		r.tools = c.tools(path+".tools", tree)
	}
	if len(form) == 0 {
		c.wrong(path, "must hold action or tools")
	}
	return r
}

// tools reads rules by tool name: an action or {action}.
func (c *compiler) tools(path string, tree map[string]any) map[string]sdk.Action {
	tools := map[string]sdk.Action{}
	for _, name := range sortedKeys(tree) {
		at := path + "." + name
		if name == "" || name != "*" && strings.Contains(name, "*") {
			c.wrong(at, "name one tool, or * for every tool; patterns are not supported")
			continue
		}
		value := tree[name]
		if form, isMap := value.(map[string]any); isMap {
			c.knownKeys(at, form, "action")
			at, value = at+".action", form["action"]
		}
		tools[name] = c.action(at, value)
	}
	return tools
}

func (c *compiler) action(path string, value any) sdk.Action {
	text, isText := value.(string)
	if !isText {
		c.wrong(path, "must be one of %s, not %s", actionNames(), kindOf(value))
		return sdk.Deny
	}
	if !sdk.Action(text).Valid() {
		c.wrong(path, "unknown action %q; use one of %s", text, actionNames())
		return sdk.Deny
	}
	return sdk.Action(text)
}

func (c *compiler) knownKeys(path string, form map[string]any, known ...string) {
	for _, key := range sortedKeys(form) {
		if !slices.Contains(known, key) {
			c.wrong(path+"."+key, "unknown key; use %s", strings.Join(known, " or "))
		}
	}
}

func actionNames() string {
	names := make([]string, 0, len(sdk.Actions()))
	for _, action := range sdk.Actions() {
		names = append(names, string(action))
	}
	return strings.Join(names, ", ")
}

// kindOf names a decoded value's kind in words a config author knows.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a value of another kind (%T)", value)
}
