package fastreact

import (
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// policySeenBy returns the policy in force as far as it is the caller's business: rules for other tenants and other
// users are theirs. The hash is of the whole.
func (f *face) policySeenBy(x *web.Exchange) (Policy, error) {
	policy, caller := f.cfg.Inspector.Policy(), x.Caller
	if caller.SpeaksForAnyone() {
		return policy, nil
	}
	if !caller.IsUser() {
		return Policy{}, web.Forbidden()
	}
	var rules map[string]json.RawMessage
	if err := json.Unmarshal(orObject(policy.Config), &rules); err != nil {
		return Policy{}, fmt.Errorf("read policy: %w", err)
	}
	if err := keep(rules, "tenant_rules", caller.TenantKey); err != nil {
		return Policy{}, err
	}
	if err := keep(rules, "user_rules", caller.UserKey); err != nil {
		return Policy{}, err
	}
	var err error
	policy.Config, err = run.Encode(rules)
	return policy, err
}

// keep leaves one name's rule in a section.
func keep(rules map[string]json.RawMessage, section, name string) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(orObject(rules[section]), &all); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	own := map[string]json.RawMessage{}
	if rule, there := all[name]; there && name != "" {
		own[name] = rule
	}
	kept, err := run.Encode(own)
	if err != nil {
		return err
	}
	rules[section] = kept
	return nil
}
