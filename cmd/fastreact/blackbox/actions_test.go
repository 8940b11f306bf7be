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
	for _, action := range []string{"allow", "caution", "require_approval", "deny"} {
		other := "deny"
		if action == "deny" {
			other = "allow"
		}
		s := start(t, newModel(t, callTheQuestion), strings.NewReplacer("ACTION", action, "OTHER", other).Replace(levelsPolicy))
		for _, c := range []struct{ user, search, bump string }{
			{"solo:u", "user:solo:u", "user:solo:u"},
			{"ten:v", "tenant:ten", "tenant:ten"},
			{"none:w", "tool:pska_search", "tool:pska_bump"},
		} {
			expectAction(t, s, c.user, "pska_pska_search", action, c.search)
			expectAction(t, s, c.user, "pska_bump", action, c.bump)
		}
		s = start(t, newModel(t, callTheQuestion), "policy: {default_action: "+action+"}\n")
		expectAction(t, s, "none:w", "pska_bump", action, "default")
	}
}
