package blackbox

import (
	"fmt"
	"strings"
	"testing"
)

// levelsPolicy says one action at every level: for a user and a tenant by both names of the tools, for the tools by
// the raw name of one and the registered name of the other.
const levelsPolicy = `policy:
  user_rules: {"solo:u": {tools: {pska_search: ACTION, pska_bump: ACTION}}}
  tenant_rules: {ten: {tools: {pska_search: ACTION, pska_bump: ACTION}}}
  tool_rules: {pska_search: ACTION, pska_bump: ACTION}
  default_action: OTHER
`

// callTheQuestion is a model that calls the tool that the question names, and then answers.
func callTheQuestion(a asked) said {
	if a.step() > 0 {
		return said{text: "done"}
	}
	return call(a.question(), `{"query":"q"}`)
}

// expectAction runs one call of a user and compares what happens with what the action means.
func expectAction(t *testing.T, s *service, user, tool, action, scope string) {
	t.Helper()
	name := fmt.Sprintf("%s for %s calling %s", action, user, tool)
	before := len(received(t, s.oracleLog()))
	stream := s.stream(ask(tool, map[string]any{"user_key": user}))
	if action == "require_approval" {
		s.request("POST", "/v1/approvals/"+pendingID(t, stream)+"/approve", nil)
	}
	all := stream.rest()
	result := of(all, "tool_result")[0].json(t)
	metadata := result["metadata"].(map[string]any)
	level := map[string]string{"allow": "safe", "caution": "caution", "require_approval": "danger", "deny": "forbidden"}[action]
	if metadata["decision_level"] != level || metadata["policy_scope"] != scope || metadata["policy_action"] != action {
		t.Errorf("%s: metadata %v", name, metadata)
	}
	ran := 1
	if action == "deny" {
		ran = 0
		if !strings.HasPrefix(result["content"].(string), "[SAFETY_BLOCKED] Policy "+scope) {
			t.Errorf("%s: result %q", name, result["content"])
		}
	}
	if n := len(received(t, s.oracleLog())) - before; n != ran {
		t.Errorf("%s: the tool ran %d times, want %d", name, n, ran)
	}
}

func TestEveryActionHoldsAtEveryLevelByBothNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ action, other string }{
		{"allow", "deny"}, {"caution", "require_approval"}, {"require_approval", "caution"}, {"deny", "allow"},
	} {
		policy := strings.NewReplacer("ACTION", c.action, "OTHER", c.other).Replace(levelsPolicy)
		s := startEdited(t, newModel(t, callTheQuestion), func(config string) string {
			return withSecondServer(t, config) + policy
		})
		for _, at := range []struct{ user, search, bump string }{
			{"solo:u", "user:solo:u", "user:solo:u"},
			{"ten:v", "tenant:ten", "tenant:ten"},
			{"none:w", "tool:pska_search", "tool:pska_bump"},
		} {
			expectAction(t, s, at.user, "pska_pska_search", c.action, at.search)
			expectAction(t, s, at.user, "pska_bump", c.action, at.bump)
		}
		expectAction(t, s, "none:w", "spare_bump", c.other, "default")
	}
}

// withSecondServer adds a server named spare with the same tools and the same oracle as pska: its bump stands in no rule.
func withSecondServer(t *testing.T, config string) string {
	t.Helper()
	at := strings.Index(config, "    - {name: pska")
	first := config[at : at+strings.Index(config[at:], "\n")+1]
	return strings.Replace(config, first, first+strings.Replace(first, "name: pska", "name: spare", 1), 1)
}
