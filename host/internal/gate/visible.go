package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Visible returns the tools that a run under this tool policy may see, sorted by name. They are exactly the ones that
// it may execute: both are one question, asked of admit and find.
func (g *Gate) Visible(ctx context.Context, bound run.ToolPolicy) []run.Tool {
	return g.tools(ctx, func(tool run.Tool) bool { return admit(bound, tool) == nil })
}

// Tools returns every tool that works now, sorted by name, also those that are reserved: for the house's own eyes.
func (g *Gate) Tools(ctx context.Context) []run.Tool {
	return g.tools(ctx, func(run.Tool) bool { return true })
}

func (g *Gate) tools(ctx context.Context, shown func(run.Tool) bool) []run.Tool {
	tools := []run.Tool{}
	under := g.enter()
	defer g.leave(under)
	for _, t := range under.standing(ctx, "") {
		if shown(t.tool) {
			tools = append(tools, t.tool)
		}
	}
	slices.SortFunc(tools, func(a, b run.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// placed is a tool and the source behind it.
type placed struct {
	tool   run.Tool
	source Source
}

// standing lists the tools that work now, each name once: of a later source's tool of the same name nobody hears.
// With a name it stops at that tool.
func (r *ruling) standing(ctx context.Context, only string) []placed {
	var tools []placed
	seen := map[string]bool{"": true}
	for _, source := range r.Sources {
		for _, tool := range source.Tools(ctx) {
			if seen[tool.Name] || only != "" && tool.Name != only {
				continue
			}
			seen[tool.Name] = true
			tools = append(tools, placed{tool, source})
		}
		if only != "" && len(tools) > 0 {
			return tools
		}
	}
	return tools
}

// find returns the tool that stands under a name.
func (r *ruling) find(ctx context.Context, name string) (placed, bool) {
	if name == "" {
		return placed{}, false
	}
	tools := r.standing(ctx, name)
	if len(tools) == 0 {
		return placed{}, false
	}
	return tools[0], true
}

// refusal is why a call never runs: a stable code and the text that model and client get.
type refusal struct {
	code   run.DenialCode
	reason string
	text   string
	source string // who refused, for the chain; empty: the gate
}

// admit asks a run's own tool policy about a tool. nil means that it may pass. A mode that is not understood lets
// nothing pass.
func admit(bound run.ToolPolicy, tool run.Tool) *refusal {
	name := tool.Name
	switch {
	case tool.Profile != "" && tool.Profile != bound.Profile:
		return toolPolicyRefusal(run.DeniedHidden, fmt.Sprintf("tool '%s' is not for this kind of run", name))
	case slices.Contains(bound.Hidden, name) || tool.RawName != "" && slices.Contains(bound.Hidden, tool.RawName):
		return toolPolicyRefusal(run.DeniedHidden, fmt.Sprintf("tool '%s' is not for this kind of run", name))
	case spentFromTheStart(bound, name):
		return overBudget(name, 0)
	case bound.Mode == run.Unrestricted:
		return nil
	case bound.Mode == run.Allowlist && slices.Contains(bound.Allowed, name):
		return nil
	case bound.Mode == run.NoTools:
		return toolPolicyRefusal(run.DeniedNoTools, "run tool_policy mode=none disables all tools")
	}
	reason := fmt.Sprintf("tool '%s' is not in run tool_policy allowed_tools", name)
	return toolPolicyRefusal(run.DeniedNotAllowed, reason)
}

// afford asks a run's budget whether one more call of a tool is left.
func afford(call run.Call) *refusal {
	budget, bounded := call.ToolPolicy.Budget[call.Tool]
	if !bounded || call.Spent < budget {
		return nil
	}
	return overBudget(call.Tool, budget)
}

// spentFromTheStart reports whether a run may never call a tool that it could otherwise see.
func spentFromTheStart(bound run.ToolPolicy, name string) bool {
	budget, bounded := bound.Budget[name]
	return bounded && budget <= 0
}

func overBudget(tool string, budget int) *refusal {
	noun := "calls"
	if budget == 1 {
		noun = "call"
	}
	return toolPolicyRefusal(run.DeniedBudget, fmt.Sprintf("tool '%s' budget of %d %s is used up", tool, budget, noun))
}

func toolPolicyRefusal(code run.DenialCode, reason string) *refusal {
	return &refusal{code: code, reason: reason, text: "[TOOL_POLICY_DENIED] " + reason, source: "tool_policy"}
}

func unknownTool(name string) *refusal {
	reason := fmt.Sprintf("Tool '%s' not found", name)
	return &refusal{code: run.DeniedUnknownTool, reason: reason, text: "[ERROR] " + reason}
}

func blocked(code run.DenialCode, reason string) *refusal {
	return &refusal{code: code, reason: reason, text: "[SAFETY_BLOCKED] " + reason}
}

func unapproved(code run.DenialCode, reason string) *refusal {
	return &refusal{code: code, reason: reason, text: "[SAFETY_DENIED] " + reason}
}
