package gate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestTheChainHoldsEveryOpinionInOrder(t *testing.T) {
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"exec": "caution"}
	w.judges = []*fakeJudge{
		{name: "strict", wants: []string{"exec"}, opinion: sdk.Opinion{Action: sdk.RequireApproval, Reason: "ask"}},
		{name: "loose", wants: []string{"exec"}, opinion: sdk.Opinion{Action: sdk.Allow}},
		{name: "later", wants: []string{"exec"}, shadow: true, opinion: sdk.Opinion{Action: sdk.Deny, Reason: "no"}},
		{name: "elsewhere", wants: []string{"read_file"}, opinion: sdk.Opinion{Action: sdk.Deny}},
	}
	got := w.gate().Check(context.Background(), callOf("exec", `{"command":"ls"}`)).Decision()
	want := run.Decision{
		Action: sdk.RequireApproval, Reason: "ask",
		PolicyScope: "tool:exec", PolicyAction: sdk.Caution, PolicyMatched: true,
		Chain: []run.ChainLink{
			{Source: "builtin:exec-guard", Action: sdk.Allow, Reason: "harmless"},
			{Source: "rule:tool:exec", Action: sdk.Caution, Reason: "Policy tool:exec allows with caution"},
			{Source: "plugin:strict", Action: sdk.RequireApproval, Reason: "ask"},
			{Source: "plugin:loose", Action: sdk.Allow, Reason: "Plugin loose allows tool"},
			{Source: "shadow:later", Action: sdk.Deny, Reason: "no"},
		},
		Plugins: []run.PluginUse{
			{PluginDigest: run.PluginDigest{Name: "exec-guard", Digest: "sha256:exec-guard"}},
			{PluginDigest: run.PluginDigest{Name: "strict", Digest: "sha256:strict"}},
			{PluginDigest: run.PluginDigest{Name: "loose", Digest: "sha256:loose"}},
			{PluginDigest: run.PluginDigest{Name: "later", Digest: "sha256:later"}},
		},
		PolicyHash: w.gate().Policy().Hash,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

func TestPluginsOnlyTighten(t *testing.T) {
	for _, rule := range sdk.Actions() {
		for _, first := range sdk.Actions() {
			for _, second := range sdk.Actions() {
				w := newWorld(t)
				w.rules.DefaultAction = string(rule)
				w.judges = []*fakeJudge{
					{name: "a", wants: []string{"*"}, opinion: sdk.Opinion{Action: first}},
					{name: "b", wants: []string{"*"}, opinion: sdk.Opinion{Action: second}},
				}
				got := w.gate().Check(context.Background(), callOf("read_file", `{}`)).Decision().Action
				if want := sdk.Stricter(rule, sdk.Stricter(first, second)); got != want {
					t.Errorf("%s, %s, %s: action = %s, want %s", rule, first, second, got, want)
				}
			}
		}
	}
}

func TestAShadowThatFailsDoesNotCount(t *testing.T) {
	w := newWorld(t)
	w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, shadow: true, err: pluginFailure{run.PluginTrapped}}}
	if got := w.do(callOf("read_file", `{}`)); got.Denied != "" {
		t.Errorf("outcome %+v", got)
	}
}

func TestAPolicyIsAskedAboutTheFinalArguments(t *testing.T) {
	w := newWorld(t)
	judge := &fakeJudge{name: "p", wants: []string{"pska_search"}, opinion: sdk.Opinion{Action: sdk.Allow}}
	w.judges = []*fakeJudge{judge}
	call := scopedCall(`{"query":"q","source_item_ids":["b1","a2"],"user_id":"root"}`, sdk.Hard)
	w.do(call)
	want := []sdk.Question{{
		Tool: "pska_pska_search", Server: "pska", RawName: "pska_search",
		Args:     json.RawMessage(`{"knowledge_base_ids":["alpha"],"query":"q","scope_mode":"hard","source_item_ids":["a2"],"user_id":"user_primary"}`),
		Identity: call.Identity, Scope: call.ToolPolicy.Scope, Now: time.Unix(1000, 0).UTC(),
		Static: sdk.Opinion{Action: sdk.Caution, Reason: "Built-in heuristic allows with caution"},
	}}
	if diff := cmp.Diff(want, judge.asked); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(string(want[0].Args), string(w.source.sent[0].Args)); diff != "" {
		t.Errorf("what ran is not what was judged (-judged +ran):\n%s", diff)
	}
}

func TestAPluginsWordsBecomeOnePlainLine(t *testing.T) {
	w := newWorld(t)
	reason := "\x1b[2Jfirst\nsecond\u202e\u0000" + strings.Repeat("x", 2000)
	w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, opinion: sdk.Opinion{Action: sdk.Deny, Reason: reason}}}
	got := w.do(callOf("read_file", `{}`)).Decision.Reason
	if strings.ContainsAny(got, "\x1b\n\u202e\x00") || len([]rune(got)) != longestReason {
		t.Errorf("reason = %q", got)
	}
}

func TestAllowAllStillAsksPolicyPlugins(t *testing.T) {
	w := newWorld(t)
	w.rules.AllowAll, w.rules.ToolRules = true, map[string]any{"exec": "deny"}
	w.guard.opinion = sdk.Opinion{Action: sdk.Deny}
	if got := w.do(callOf("exec", `{"command":"rm -rf /"}`)); got.Denied != "" {
		t.Fatalf("outcome %+v", got)
	}
	w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, opinion: sdk.Opinion{Action: sdk.Deny, Reason: "no"}}}
	if got := w.do(callOf("exec", `{"command":"rm -rf /"}`)); got.Content != "[SAFETY_BLOCKED] no" {
		t.Errorf("outcome %+v", got)
	}
}

func TestTheSeedsDryRun(t *testing.T) {
	w := newWorld(t)
	w.source.setTools() // the seed's example needs no tool
	w.rules.ToolRules = map[string]any{"exec": "require_approval", "write_file": "deny"}
	got := w.gate().DryRun(context.Background(), Probe{
		Tool: "exec", Args: json.RawMessage(`{"command":"ls"}`),
		Identity: sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska"},
	})
	type seen struct {
		Level                        run.Level
		Reason, Pattern, PolicyScope string
		PolicyAction                 sdk.Action
		Matched                      bool
	}
	want := seen{run.Danger, "Policy tool:exec requires approval", "", "tool:exec", sdk.RequireApproval, true}
	have := seen{got.Level(), got.Reason, got.Pattern, got.PolicyScope, got.PolicyAction, got.PolicyMatched}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

func TestADryRunRunsAndRecordsNothing(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	for _, probe := range []Probe{
		{Tool: "exec", Args: json.RawMessage(`{"command":"ls"}`)},
		{Tool: "read_file"},
		{Tool: "ghost", Args: json.RawMessage(`null`)},
		{Tool: "pska_pska_search"},
		{Tool: "exec", Args: json.RawMessage(`[`)},
	} {
		g.DryRun(context.Background(), probe)
	}
	mustNotRun(t, w)
	if len(w.recorder.records) > 0 {
		t.Errorf("records: %+v", w.recorder.records)
	}
}

func TestADryRunKnowsAToolsRawName(t *testing.T) {
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"pska_search": "deny"}
	got := w.gate().DryRun(context.Background(), Probe{Tool: "pska_pska_search"})
	if got.Reason != "Policy tool:pska_search denies tool" || got.Code != run.DeniedByPolicy {
		t.Errorf("decision %+v", got)
	}
}

func TestADryRunOfMalformedArgumentsDenies(t *testing.T) {
	got := newWorld(t).gate().DryRun(context.Background(), Probe{Tool: "exec", Args: json.RawMessage(`["ls"]`)})
	if got.Action != sdk.Deny || got.Code != run.DeniedInvalidArgs {
		t.Errorf("decision %+v", got)
	}
}
