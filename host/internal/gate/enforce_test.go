package gate

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func rulesOf(t *testing.T, action string) *policy.Rules {
	t.Helper()
	rules, err := policy.Compile(policy.Config{DefaultAction: action})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestACallThatWasAllowedIsDeniedUnderRulesThatDenyItBeforeItLeft(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	g.Enforce(rulesOf(t, "allow"))
	allowed := g.Check(t.Context(), callOf("read_file", `{}`))
	if allowed.Denied() {
		t.Fatalf("denied: %+v", allowed.Decision())
	}
	g.Enforce(rulesOf(t, "deny"))
	got := g.Do(context.Background(), allowed, nil)
	if got.Denied != run.DeniedByPolicy || got.Decision.PolicyHash != g.Policy().Hash {
		t.Errorf("outcome: %+v", got)
	}
	mustNotRun(t, w)
}

func TestACallThatTheOldRulesLetPassNeedsAPersonWhereTheNewOnesSaySo(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	g.Enforce(rulesOf(t, "allow"))
	allowed := g.Check(t.Context(), callOf("read_file", `{}`))
	g.Enforce(rulesOf(t, "require_approval"))
	if got := g.Do(context.Background(), allowed, nil); got.Denied != run.DeniedApproval {
		t.Errorf("outcome: %+v", got)
	}
	mustNotRun(t, w)
}

func TestACallRunsOnceThoughItIsJudgedTwice(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	g.Enforce(rulesOf(t, "allow"))
	allowed := g.Check(t.Context(), callOf("read_file", `{}`))
	g.Enforce(rulesOf(t, "caution"))
	first, second := g.Do(context.Background(), allowed, nil), g.Do(context.Background(), allowed, nil)
	if first.Denied != "" || second.Denied != run.DeniedStale || len(w.source.sent) != 1 {
		t.Errorf("first %+v, second %+v, sent %d", first, second, len(w.source.sent))
	}
}

func TestOtherRulesAreAnotherPolicy(t *testing.T) {
	g := newWorld(t).gate()
	before := g.Policy().Hash
	after := g.Enforce(rulesOf(t, "deny"))
	if after.Hash == before || after.Hash != g.Policy().Hash {
		t.Errorf("before %s, answered %s, in force %s", before, after.Hash, g.Policy().Hash)
	}
	decision := g.DryRun(t.Context(), Probe{Tool: "read_file", Args: json.RawMessage(`{}`)})
	if decision.Action != sdk.Deny || decision.PolicyHash != after.Hash {
		t.Errorf("dry run: %+v", decision)
	}
}
