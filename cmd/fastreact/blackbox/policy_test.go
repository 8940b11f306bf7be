package blackbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const seedToolRules = `policy: {default_action: caution, tool_rules: {exec: require_approval, write_file: deny}}
`

const seedPolicy = `policy:
  default_action: caution
  tool_rules: {exec: require_approval, write_file: deny}
  tenant_rules: {pska: {tools: {pska_search: allow, exec: deny}}}
  user_rules: {"pska:operator": {tools: {exec: require_approval}}}
`

func dryRun(s *service, tool, args, user string) map[string]any {
	s.t.Helper()
	body := `{"tool_name":"` + tool + `","tool_args":` + args + `,"user_key":"` + user + `","tenant_key":"pska"}`
	status, raw := s.request("POST", "/v1/policy/check", body)
	if status != 200 {
		s.t.Fatalf("policy check: %d %s", status, raw)
	}
	return s.object(raw)
}

func TestDryRunOfTheSeedHoldsWithItsToolRules(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), seedToolRules)
	got := dryRun(s, "exec", `{"command":"ls"}`, "pska:user_primary")
	if chain, ok := got["chain"].([]any); !ok || len(chain) == 0 {
		t.Errorf("chain is %v", got["chain"])
	}
	delete(got, "chain")
	want := map[string]any{
		"tool_name": "exec", "user_key": "pska:user_primary", "level": "danger",
		"reason": "Policy tool:exec requires approval", "pattern_matched": nil, "policy_scope": "tool:exec",
		"policy_action": "require_approval", "policy_matched": true, "requires_confirmation": true, "should_allow": true,
	}
	for key, value := range want {
		if diff := cmp.Diff(value, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestWholePolicyOfTheSeed(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), seedPolicy)
	for _, c := range []struct{ tool, args, user, level, scope string }{
		{"exec", `{"command":"ls"}`, "pska:user_primary", "forbidden", "tenant:pska"},
		{"exec", `{"command":"ls"}`, "pska:operator", "danger", "user:pska:operator"},
		{"exec", `{"command":"rm -rf /"}`, "pska:operator", "forbidden", ""},
		{"pska_search", `{}`, "pska:user_primary", "safe", "tenant:pska"},
		{"pska_pska_search", `{}`, "pska:user_primary", "safe", "tenant:pska"},
		{"write_file", `{"path":"a","content":"b"}`, "pska:user_primary", "forbidden", "tool:write_file"},
		{"read_file", `{"path":"a"}`, "pska:user_primary", "caution", "default"},
	} {
		got := dryRun(s, c.tool, c.args, c.user)
		if got["level"] != c.level || (c.scope != "" && got["policy_scope"] != c.scope) {
			t.Errorf("%s for %s: level %v by %v, want %s by %s", c.tool, c.user, got["level"], got["policy_scope"], c.level, c.scope)
		}
	}
	_, raw := s.request("GET", "/v1/policy", nil)
	policy := s.object(raw)
	if policy["schema"] != "fastreact.policy.v1" || policy["tenant_inference"] != "prefix_before_colon_in_user_key" {
		t.Errorf("policy: %s", raw)
	}
}

func TestDeniedToolIsBlockedInARun(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "policy: {tool_rules: {pska_search: deny}}\n")
	result := of(s.stream(ask("Question", nil)).rest(), "tool_result")[0].json(t)
	if !strings.HasPrefix(result["content"].(string), "[SAFETY_BLOCKED] ") {
		t.Errorf("result is %q", result["content"])
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}
