package policy

import (
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// FieldError is one mistake in a request's tool_policy.
type FieldError struct {
	Loc     []string // such as body, tool_policy, mode
	Message string   // safe to show
	Input   any      // the value as it was decoded
}

// Error names the place and the mistake.
func (e FieldError) Error() string { return strings.Join(e.Loc, ".") + ": " + e.Message }

// ParseToolPolicy reads the decoded JSON value of a request's tool_policy. Absent means unrestricted; whatever is
// not understood is a mistake, never a wider policy.
func ParseToolPolicy(value any) (run.ToolPolicy, []FieldError) {
	p := &policyParser{}
	loc := []string{"body", "tool_policy"}
	parsed := run.ToolPolicy{Allowed: []string{}}
	if value == nil {
		return parsed, nil
	}
	fields, isObject := value.(map[string]any)
	if !isObject {
		p.wrong(loc, value, "tool_policy must be an object")
		return run.ToolPolicy{Mode: run.NoTools, Allowed: []string{}}, p.mistakes
	}
	parsed.Mode = p.mode(loc, fields["mode"])
	if allowed := fields["allowed_tools"]; allowed != nil {
		parsed.Allowed = p.allowed(loc, allowed)
		if fields["mode"] == nil {
			parsed.Mode = run.Allowlist
		}
	}
	if scope := fields["scope"]; scope != nil {
		parsed.Scope = p.scope(loc, scope)
	}
	return parsed, p.mistakes
}

// policyParser gathers every mistake instead of stopping at the first.
type policyParser struct{ mistakes []FieldError }

func (p *policyParser) wrong(loc []string, input any, message string) {
	p.mistakes = append(p.mistakes, FieldError{Loc: slices.Clone(loc), Message: message, Input: input})
}

func (p *policyParser) mode(loc []string, value any) run.ToolMode {
	if value == nil {
		return run.Unrestricted
	}
	switch value {
	case "none", "off", "disabled", "no_tools":
		return run.NoTools
	case "allowlist", "allowed_tools", "allow":
		return run.Allowlist
	}
	p.wrong(at(loc, "mode"), value, "mode must be none or allowlist")
	return run.NoTools
}

// allowed reads exact registered names, sorted and unique.
func (p *policyParser) allowed(loc []string, value any) []string {
	names := []string{}
	entries, isList := value.([]any)
	if !isList {
		p.wrong(at(loc, "allowed_tools"), value, "allowed_tools must be a list of tool names")
		return names
	}
	for _, entry := range entries {
		name, isText := entry.(string)
		if !isText {
			p.wrong(at(loc, "allowed_tools"), entry, "every entry of allowed_tools must be a string")
			continue
		}
		if strings.TrimSpace(name) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (p *policyParser) scope(loc []string, value any) *sdk.Scope {
	loc = at(loc, "scope")
	fields, isObject := value.(map[string]any)
	if !isObject {
		p.wrong(loc, value, "scope must be an object")
		return nil
	}
	return &sdk.Scope{
		Mode:             p.scopeMode(loc, fields),
		KnowledgeBaseIDs: p.ids(loc, fields, "knowledge_base_ids"),
		SourceItemIDs:    p.ids(loc, fields, "source_item_ids"),
	}
}

// scopeMode is hard unless every mode that is given says soft.
func (p *policyParser) scopeMode(loc []string, fields map[string]any) sdk.ScopeMode {
	mode := sdk.ScopeMode("")
	for _, key := range []string{"mode", "scope_mode"} {
		value := fields[key]
		switch value {
		case nil:
		case string(sdk.Soft):
			if mode == "" {
				mode = sdk.Soft
			}
		case string(sdk.Hard):
			mode = sdk.Hard
		default:
			p.wrong(at(loc, key), value, key+" must be hard or soft")
			mode = sdk.Hard
		}
	}
	if mode == "" {
		return sdk.Hard
	}
	return mode
}

// ids reads a list of ids, or a single one. Blanks and repetitions are dropped; nothing left is a mistake, because
// an empty bound reads as no bound.
func (p *policyParser) ids(loc []string, fields map[string]any, key string) []string {
	value := fields[key]
	if value == nil {
		return nil
	}
	entries, isList := value.([]any)
	if !isList {
		entries = []any{value}
	}
	ids, known := []string{}, map[string]bool{}
	for _, entry := range entries {
		id, isText := entry.(string)
		if !isText {
			p.wrong(at(loc, key), entry, key+" must hold strings")
			return nil
		}
		id = strings.TrimSpace(id)
		if id != "" && !known[id] {
			ids, known[id] = append(ids, id), true
		}
	}
	if len(ids) == 0 {
		p.wrong(at(loc, key), value, key+" is given but names nothing")
		return nil
	}
	return ids
}

func at(loc []string, key string) []string { return append(slices.Clone(loc), key) }
