package policy

import (
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Effective returns the rules as canonical JSON in the config's shape, every rule in its longest form.
func (r *Rules) Effective() json.RawMessage {
	return mustEncode(map[string]any{
		"allow_all":      r.allowAll,
		"default_action": r.fallback,
		"tool_rules":     orEmpty(r.tools.tools),
		"user_rules":     plainRules(r.users),
		"tenant_rules":   plainRules(r.tenants),
	})
}

// Snapshot names one state of policy: the digest of the canonical JSON of the effective rules and of every plugin
// that may speak, in the order in which they are asked.
func Snapshot(effective json.RawMessage, plugins []run.PluginDigest) string {
	return run.Digest(mustEncode(map[string]any{
		"policy":  effective,
		"plugins": append([]run.PluginDigest{}, plugins...),
	}))
}

func plainRules(rules map[string]rule) map[string]any {
	plain := make(map[string]any, len(rules))
	for key, r := range rules {
		form := map[string]any{"tools": orEmpty(r.tools)}
		if r.every != "" {
			form["action"] = r.every
		}
		plain[key] = form
	}
	return plain
}

func orEmpty(tools map[string]sdk.Action) map[string]sdk.Action {
	if tools == nil {
		return map[string]sdk.Action{}
	}
	return tools
}

// mustEncode encodes values that this package built itself; failing is a bug.
func mustEncode(value any) json.RawMessage {
	raw, err := run.Encode(value)
	if err != nil {
		panic(fmt.Sprintf("policy: encode own value: %v", err))
	}
	return raw
}
