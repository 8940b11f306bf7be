package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// seedConfig is the seed's policy config, word for word.
const seedConfig = `{
  "policy": {
    "default_action": "caution",
    "tool_rules": {
      "exec": "require_approval",
      "write_file": "deny"
    },
    "tenant_rules": {
      "pska": {
        "tools": {
          "pska_search": "allow",
          "exec": "deny"
        }
      }
    },
    "user_rules": {
      "pska:operator": {
        "tools": {
          "exec": "require_approval"
        }
      }
    }
  }
}`

func rulesFrom(t *testing.T, text string) *Rules {
	t.Helper()
	var file struct {
		Policy struct {
			Default string         `json:"default_action"`
			Tools   map[string]any `json:"tool_rules"`
			Users   map[string]any `json:"user_rules"`
			Tenants map[string]any `json:"tenant_rules"`
		} `json:"policy"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	rules, err := Compile(Config{
		DefaultAction: file.Policy.Default, ToolRules: file.Policy.Tools,
		UserRules: file.Policy.Users, TenantRules: file.Policy.Tenants,
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func named(name string) run.Tool { return run.Tool{Name: name, RawName: name} }

func pskaSearch() run.Tool {
	return run.Tool{Name: "pska_pska_search", RawName: "pska_search", Server: "pska", Source: run.FromMCP}
}

func guardSays(action sdk.Action) *sdk.Opinion {
	return &sdk.Opinion{Action: action, Reason: "guard says " + string(action), PatternMatched: "pattern"}
}

func TestTheSeedsDryRunHoldsWithItsToolRulesAlone(t *testing.T) {
	rules := rulesFrom(t, `{"policy":{"tool_rules":{"exec":"require_approval","write_file":"deny"}}}`)
	got := rules.Decide(Subject{
		Tool: named("exec"), UserKey: "pska:user_primary", TenantKey: "pska",
		Guard: &sdk.Opinion{Action: sdk.Allow, Reason: "ls reads"},
	})
	want := run.Decision{
		Action: sdk.RequireApproval, Reason: "Policy tool:exec requires approval",
		PolicyScope: "tool:exec", PolicyAction: sdk.RequireApproval, PolicyMatched: true,
		Chain: []run.ChainLink{
			{Source: "builtin:exec-guard", Action: sdk.Allow, Reason: "ls reads"},
			{Source: "rule:tool:exec", Action: sdk.RequireApproval, Reason: "Policy tool:exec requires approval"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if got.Level() != run.Danger {
		t.Errorf("level = %s, want danger", got.Level())
	}
}

func TestTheFirstRuleInTheSeedsOrderDecides(t *testing.T) {
	seed := rulesFrom(t, seedConfig)
	bare := rulesFrom(t, `{"policy":{}}`)
	cases := map[string]struct {
		rules   *Rules
		subject Subject
		action  sdk.Action
		scope   string
		reason  string
		matched bool
	}{
		"forbidden patterns override a user's rule": {
			seed,
			Subject{Tool: named("exec"), UserKey: "pska:operator", TenantKey: "pska", Guard: guardSays(sdk.Deny)},
			sdk.Deny, "builtin", "guard says deny", false,
		},
		"a user's rule comes before the tenant's": {
			seed,
			Subject{Tool: named("exec"), UserKey: "pska:operator", TenantKey: "pska", Guard: guardSays(sdk.Allow)},
			sdk.RequireApproval, "user:pska:operator", "Policy user:pska:operator requires approval", true,
		},
		"a tenant's rule comes before the tool's": {
			seed,
			Subject{Tool: named("exec"), UserKey: "pska:user_primary", TenantKey: "pska", Guard: guardSays(sdk.Allow)},
			sdk.Deny, "tenant:pska", "Policy tenant:pska denies tool", true,
		},
		"a tenant's rule may use the raw name": {
			seed,
			Subject{Tool: pskaSearch(), UserKey: "pska:user_primary", TenantKey: "pska"},
			sdk.Allow, "tenant:pska", "Policy tenant:pska allows tool", true,
		},
		"a tenant that is given wins over the prefix": {
			seed,
			Subject{Tool: pskaSearch(), UserKey: "pska:user_primary", TenantKey: "other"},
			sdk.Caution, "default", "Policy default allows with caution", true,
		},
		"a tool's rule comes before the default": {
			seed,
			Subject{Tool: named("write_file"), UserKey: "x:y", TenantKey: "x"},
			sdk.Deny, "tool:write_file", "Policy tool:write_file denies tool", true,
		},
		"the default comes before the heuristics": {
			seed,
			Subject{Tool: named("read_file")},
			sdk.Caution, "default", "Policy default allows with caution", true,
		},
		"the exec guard is the heuristic for exec": {
			bare,
			Subject{Tool: named("exec"), Guard: guardSays(sdk.Caution)},
			sdk.Caution, "builtin", "guard says caution", false,
		},
		"exec without an opinion is dangerous": {
			bare,
			Subject{Tool: named("exec")},
			sdk.RequireApproval, "builtin", "Built-in heuristic requires approval", false,
		},
		"reading files is safe": {
			bare,
			Subject{Tool: named("read_file")},
			sdk.Allow, "builtin", "Built-in heuristic allows tool", false,
		},
		"reading on in an own result is safe": {
			bare,
			Subject{Tool: named("read_result")},
			sdk.Allow, "builtin", "Built-in heuristic allows tool", false,
		},
		"writing files takes caution": {
			bare,
			Subject{Tool: named("write_file")},
			sdk.Caution, "builtin", "Built-in heuristic allows with caution", false,
		},
		"a server's tool takes caution whatever its name": {
			bare,
			Subject{Tool: run.Tool{Name: "read_file", RawName: "file", Server: "read"}},
			sdk.Caution, "builtin", "Built-in heuristic allows with caution", false,
		},
		"everything else takes caution": {
			bare,
			Subject{Tool: named("anything")},
			sdk.Caution, "builtin", "Built-in heuristic allows with caution", false,
		},
		"an unknown word of the guard forbids": {
			seed,
			Subject{Tool: named("exec"), UserKey: "pska:operator", TenantKey: "pska", Guard: guardSays("maybe")},
			sdk.Deny, "builtin", "guard says maybe", false,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := c.rules.Decide(c.subject)
			want := []any{c.action, c.scope, c.reason, c.matched}
			if diff := cmp.Diff(want, []any{got.Action, got.PolicyScope, got.Reason, got.PolicyMatched}); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhereBothNamesOfAToolHaveARuleTheStricterWins(t *testing.T) {
	for _, text := range []string{
		`{"policy":{"tool_rules":{"pska_pska_search":"allow","pska_search":"deny"}}}`,
		`{"policy":{"tool_rules":{"pska_pska_search":"deny","pska_search":"allow"}}}`,
		`{"policy":{"tenant_rules":{"pska":{"tools":{"pska_search":"deny","pska_pska_search":"allow"},"action":"allow"}}}}`,
	} {
		got := rulesFrom(t, text).Decide(Subject{Tool: pskaSearch(), UserKey: "pska:u", TenantKey: "pska"})
		if got.Action != sdk.Deny {
			t.Errorf("%s: action = %s, want deny", text, got.Action)
		}
	}
}

func TestARuleMayHaveAnyOfItsForms(t *testing.T) {
	cases := map[string]sdk.Action{
		`{"user_rules":{"t:u":"deny"}}`:                                                          sdk.Deny,
		`{"user_rules":{"t:u":{"action":"allow"}}}`:                                              sdk.Allow,
		`{"user_rules":{"t:u":{"tools":{"x":{"action":"deny"}}}}}`:                               sdk.Deny,
		`{"user_rules":{"t:u":{"tools":{"*":"require_approval"}}}}`:                              sdk.RequireApproval,
		`{"user_rules":{"t:u":{"tools":{"*":"deny","x":"allow"},"action":"caution"}}}`:           sdk.Allow,
		`{"user_rules":{"t:u":{"tools":{"y":"allow"},"action":"require_approval"}}}`:             sdk.RequireApproval,
		`{"user_rules":{"t:u":{"tools":{"y":"allow"}}},"tenant_rules":{"t":"deny"}}`:             sdk.Deny,
		`{"tool_rules":{"x":{"action":"deny"}}}`:                                                 sdk.Deny,
		`{"tool_rules":{"*":"deny","x":"allow"}}`:                                                sdk.Allow,
		`{"tool_rules":{"*":"deny"},"default_action":"allow"}`:                                   sdk.Deny,
		`{"default_action":"require_approval"}`:                                                  sdk.RequireApproval,
		`{"user_rules":{"t:other":"deny"},"tenant_rules":{"o":"deny"},"default_action":"allow"}`: sdk.Allow,
	}
	for text, want := range cases {
		got := rulesFrom(t, `{"policy":`+text+`}`).Decide(Subject{Tool: named("x"), UserKey: "t:u", TenantKey: "t"})
		if got.Action != want {
			t.Errorf("%s: action = %s, want %s", text, got.Action, want)
		}
	}
}

func TestAllowAllEmptiesForbiddenListAndRules(t *testing.T) {
	rules, err := Compile(Config{DefaultAction: "deny", ToolRules: map[string]any{"exec": "deny"}, AllowAll: true})
	if err != nil {
		t.Fatal(err)
	}
	got := rules.Decide(Subject{Tool: named("exec"), Guard: guardSays(sdk.Deny)})
	if got.Action != sdk.Allow {
		t.Errorf("action = %s, want allow", got.Action)
	}
}

func TestAMistakeInTheConfigNamesItsKey(t *testing.T) {
	cases := map[string]Config{
		"policy.tool_rules.exec":                {ToolRules: map[string]any{"exec": "forbid"}},
		"policy.tool_rules.exec.action":         {ToolRules: map[string]any{"exec": map[string]any{"action": "no"}}},
		"policy.tool_rules.exec.tools":          {ToolRules: map[string]any{"exec": map[string]any{"tools": "x"}}},
		"policy.tool_rules.pska_*":              {ToolRules: map[string]any{"pska_*": "deny"}},
		"policy.default_action":                 {DefaultAction: "Deny"},
		"policy.user_rules.a:b":                 {UserRules: map[string]any{"a:b": false}},
		"policy.user_rules.a:b.tools.exec":      {UserRules: map[string]any{"a:b": map[string]any{"tools": map[string]any{"exec": 1}}}},
		"policy.user_rules.*":                   {UserRules: map[string]any{"*": "deny"}},
		"policy.tenant_rules.pska.tool":         {TenantRules: map[string]any{"pska": map[string]any{"tool": "deny"}}},
		"policy.tenant_rules.pska.tools":        {TenantRules: map[string]any{"pska": map[string]any{"tools": []any{}}}},
		"policy.tenant_rules.pska.tools.x.deny": {TenantRules: map[string]any{"pska": map[string]any{"tools": map[string]any{"x": map[string]any{"deny": true}}}}},
		"policy.tenant_rules.pska":              {TenantRules: map[string]any{"pska": nil}},
	}
	for path, cfg := range cases {
		_, err := Compile(cfg)
		if err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%s: error = %v", path, err)
		}
	}
}

func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	_, err := Compile(Config{DefaultAction: "x", ToolRules: map[string]any{"a": "y", "b": "z"}})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("error = %v, want three lines", err)
	}
}

func TestTheSnapshotNamesRulesAndPlugins(t *testing.T) {
	one, two := rulesFrom(t, seedConfig), rulesFrom(t, `{"policy":{"default_action":"deny"}}`)
	plugins := []run.PluginDigest{{Name: "p", Digest: "sha256:1"}}
	newer := []run.PluginDigest{{Name: "p", Digest: "sha256:2"}}
	hashes := map[string]bool{}
	for _, hash := range []string{
		Snapshot(one.Effective(), plugins), Snapshot(one.Effective(), newer), Snapshot(one.Effective(), nil),
		Snapshot(two.Effective(), plugins),
	} {
		hashes[hash] = true
	}
	if len(hashes) != 4 {
		t.Errorf("%d different hashes, want 4", len(hashes))
	}
	if Snapshot(one.Effective(), plugins) != Snapshot(rulesFrom(t, seedConfig).Effective(), plugins) {
		t.Error("the same policy has two hashes")
	}
}
