package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// object writes metadata. Its values are plain, so that it cannot fail.
func object(metadata map[string]any) json.RawMessage {
	raw, err := run.Encode(metadata)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// with adds one field to written metadata.
func with(raw json.RawMessage, key string, value any) json.RawMessage {
	fields := map[string]any{}
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields[key] = value
	return object(fields)
}

// policyFields are the decision's public fields, and what the scope did when one was applied.
func (d *drive) policyFields(decision run.Decision) map[string]any {
	fields := map[string]any{
		"decision_level": decision.Level(),
		"policy_scope":   orNull(decision.PolicyScope),
		"policy_action":  orNull(string(decision.PolicyAction)),
		"policy_matched": decision.PolicyMatched,
	}
	scope := decision.Scope
	if scope.Applied {
		fields["tool_policy_scope_applied"] = true
		fields["tool_policy"] = policyObject(d.policy)
		fields["scope_narrowed"] = orEmpty(scope.Narrowed)
		fields["scope_unverified"] = orEmpty(scope.Unverified)
	}
	if scope.Empty {
		fields["tool_policy_scope_empty"] = true
	}
	return fields
}

// policyObject is a run's tool policy as it is shown. A list that was not given is absent.
func policyObject(policy run.ToolPolicy) map[string]any {
	shown := map[string]any{
		"mode":          orNull(string(policy.Mode)),
		"allowed_tools": orEmpty(policy.Allowed),
		"scope":         nil,
	}
	if policy.Scope != nil {
		shown["scope"] = scopeObject(*policy.Scope)
	}
	if policy.Budget != nil {
		shown["tool_budget"] = policy.Budget
	}
	if policy.Hidden != nil {
		shown["hidden_tools"] = policy.Hidden
	}
	return shown
}

func scopeObject(scope sdk.Scope) map[string]any {
	shown := map[string]any{"mode": scope.Mode, "scope_mode": scope.Mode}
	if scope.KnowledgeBaseIDs != nil {
		shown["knowledge_base_ids"] = scope.KnowledgeBaseIDs
	}
	if scope.SourceItemIDs != nil {
		shown["source_item_ids"] = scope.SourceItemIDs
	}
	return shown
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// timestamp is how every time in metadata is written: RFC 3339 with microseconds, UTC as +00:00, as in the protocol's
// own "expires_at": "2026-06-12T00:05:00+00:00".
func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000-07:00") }

// seconds writes whole seconds as the contract does: 300.0.
func seconds(d time.Duration) json.Number {
	text := strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return json.Number(text)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
