package policy

import (
	"maps"
	"slices"

	"github.com/fastreact/fastreact/sdk"
)

// Rules are a checked config. The zero value has no rules: the built-in heuristics decide. Rules never change, so
// they may be shared by any number of goroutines.
type Rules struct {
	allowAll bool
	fallback sdk.Action // empty = no default
	tools    rule
	users    map[string]rule
	tenants  map[string]rule
}

// AllowAll reports whether the service was started with forbidden patterns and rules switched off.
func (r *Rules) AllowAll() bool { return r.allowAll }

// rule is what one user, one tenant, or everybody may do.
type rule struct {
	tools map[string]sdk.Action // by registered or raw name; "*" = every other tool
	every sdk.Action            // for tools that are not named; empty = no opinion
}

// about returns the rule's action for a tool known by these names, and the name that decided. Where more than one of
// the names has a rule the stricter wins. ok is false when the rule says nothing about the tool.
func (r rule) about(names []string) (action sdk.Action, name string, ok bool) {
	for _, candidate := range names {
		found, named := r.tools[candidate]
		if named && (!ok || sdk.Stricter(action, found) != action) {
			action, name, ok = found, candidate, true
		}
	}
	if ok {
		return action, name, true
	}
	if found, named := r.tools["*"]; named {
		return found, "*", true
	}
	return r.every, "*", r.every != ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
