package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestARunWithoutToolsIsDeniedEveryTool(t *testing.T) {
	w := newWorld(t)
	call := callOf("read_file", `{}`)
	call.ToolPolicy.Mode = run.NoTools
	wantDenied(t, w, w.do(call), run.DeniedNoTools,
		"[TOOL_POLICY_DENIED] run tool_policy mode=none disables all tools")
}

func TestAToolOutsideTheAllowlistIsDenied(t *testing.T) {
	w := newWorld(t)
	call := callOf("exec", `{"command":"ls"}`)
	call.ToolPolicy = run.ToolPolicy{Mode: run.Allowlist, Allowed: []string{"read_file"}}
	wantDenied(t, w, w.do(call), run.DeniedNotAllowed,
		"[TOOL_POLICY_DENIED] tool 'exec' is not in run tool_policy allowed_tools")
}

func TestAnUnknownToolModeDenies(t *testing.T) {
	w := newWorld(t)
	call := callOf("read_file", `{}`)
	call.ToolPolicy = run.ToolPolicy{Mode: "everything", Allowed: []string{"read_file"}}
	wantDenied(t, w, w.do(call), run.DeniedNotAllowed,
		"[TOOL_POLICY_DENIED] tool 'read_file' is not in run tool_policy allowed_tools")
}

func TestARawNameIsNoWayRoundTheAllowlist(t *testing.T) {
	w := newWorld(t)
	call := callOf("find", `{}`)
	call.ToolPolicy = run.ToolPolicy{Mode: run.Allowlist, Allowed: []string{"docs_find"}}
	wantDenied(t, w, w.do(call), run.DeniedNotAllowed,
		"[TOOL_POLICY_DENIED] tool 'find' is not in run tool_policy allowed_tools")
}

func TestAnUnknownToolIsNotFound(t *testing.T) {
	for _, name := range []string{"x", "find", "EXEC", "exec ", ""} {
		w := newWorld(t)
		wantDenied(t, w, w.do(callOf(name, `{}`)), run.DeniedUnknownTool, fmt.Sprintf("[ERROR] Tool '%s' not found", name))
	}
}

func TestMalformedArgumentsNeverRunATool(t *testing.T) {
	for _, args := range []string{`{"command":`, `[]`, `null`, ``, `"ls"`, `{"command":"ls\u0000"}`, `{"command":"ls"}{}`} {
		w := newWorld(t)
		got := w.do(callOf("exec", args))
		mustNotRun(t, w)
		var issue map[string]any
		if err := json.Unmarshal([]byte(got.Content), &issue); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if issue["type"] != "tool_argument_issue" || got.Denied != run.DeniedInvalidArgs {
			t.Errorf("%q: %s", args, got.Content)
		}
	}
}

func TestAMissingArgumentIsNamed(t *testing.T) {
	w := newWorld(t)
	got := w.do(callOf("exec", `{"cmd":"ls"}`))
	want := `{"type":"tool_argument_issue","error_code":"invalid_tool_args","tool_name":"exec",` +
		`"validation_error":"missing required arguments: command","missing_required":["command"],` +
		`"retry":{"recommended":true,"hint":"Call the tool again with one JSON object that fits its parameters."}}`
	wantDenied(t, w, got, run.DeniedInvalidArgs, want)
}

func TestARuleThatDeniesBlocks(t *testing.T) {
	w := newWorld(t)
	w.rules.TenantRules = map[string]any{"pska": map[string]any{"tools": map[string]any{"exec": "deny"}}}
	wantDenied(t, w, w.do(callOf("exec", `{"command":"ls"}`)), run.DeniedByPolicy,
		"[SAFETY_BLOCKED] Policy tenant:pska denies tool")
}

func TestAForbiddenCommandOverridesEveryRule(t *testing.T) {
	w := newWorld(t)
	w.rules.UserRules = map[string]any{"pska:user_primary": "allow"}
	w.guard.opinion = sdk.Opinion{Action: sdk.Deny, Reason: "rm -rf / destroys", PatternMatched: "rm -rf /"}
	got := w.do(callOf("exec", `{"command":"rm -rf /"}`))
	wantDenied(t, w, got, run.DeniedByPolicy, "[SAFETY_BLOCKED] rm -rf / destroys")
	if got.Decision.Pattern != "rm -rf /" {
		t.Errorf("pattern = %q", got.Decision.Pattern)
	}
}

func TestExecWithoutItsGuardIsDenied(t *testing.T) {
	w := newWorld(t)
	w.guard = nil
	w.rules.ToolRules = map[string]any{"exec": "allow"}
	wantDenied(t, w, w.do(callOf("exec", `{"command":"ls"}`)), run.PluginUnavailable,
		"[SAFETY_BLOCKED] Policy plugin exec-guard failed: plugin_unavailable")
}

// failures are all the ways in which a plugin may not answer.
var failures = []run.DenialCode{
	run.PluginTrapped, run.PluginTimedOut, run.PluginOutOfMemory, run.PluginBadAnswer, run.PluginBadVerdict,
	run.PluginNoAnswer, run.PluginUnavailable, run.PluginOutputTooBig, run.PluginOutOfGas, run.PluginStackOverflow,
	run.PluginTooManyHostCalls, run.PluginBusy,
}

func TestAGuardThatFailsDeniesWithItsOwnCode(t *testing.T) {
	for _, code := range failures {
		w := newWorld(t)
		w.guard.err = fmt.Errorf("evaluate: %w", pluginFailure{code})
		wantDenied(t, w, w.do(callOf("exec", `{"command":"ls"}`)), code,
			"[SAFETY_BLOCKED] Policy plugin exec-guard failed: "+string(code))
	}
}

func TestAPolicyThatFailsDeniesWithItsOwnCode(t *testing.T) {
	for _, code := range failures {
		w := newWorld(t)
		w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, err: fmt.Errorf("evaluate: %w", pluginFailure{code})}}
		wantDenied(t, w, w.do(callOf("read_file", `{}`)), code,
			"[SAFETY_BLOCKED] Policy plugin p failed: "+string(code))
	}
}

func TestAPolicyThatFailsInAnUnknownWayDenies(t *testing.T) {
	w := newWorld(t)
	w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, err: errors.New("boom")}}
	wantDenied(t, w, w.do(callOf("read_file", `{}`)), run.PluginUnavailable,
		"[SAFETY_BLOCKED] Policy plugin p failed: plugin_unavailable")
}

func TestAPolicyWithAnUnknownVerdictDenies(t *testing.T) {
	for _, action := range []sdk.Action{"", "permit", "ALLOW"} {
		w := newWorld(t)
		w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, opinion: sdk.Opinion{Action: action}}}
		wantDenied(t, w, w.do(callOf("read_file", `{}`)), run.PluginBadVerdict,
			"[SAFETY_BLOCKED] Policy plugin p failed: plugin_unknown_verdict")
	}
}

func TestAScopePluginThatFailsDeniesWithItsOwnCode(t *testing.T) {
	for _, code := range failures {
		w := newWorld(t)
		w.scoper.inject = func(sdk.InjectRequest) (sdk.Injection, error) { return sdk.Injection{}, pluginFailure{code} }
		wantDenied(t, w, w.do(scopedCall(`{}`, sdk.Hard)), code,
			"[SAFETY_BLOCKED] The scope plugin failed: "+string(code))
	}
}

func TestAScopeThatNobodyCanInjectDenies(t *testing.T) {
	w := newWorld(t)
	w.scoper = nil
	wantDenied(t, w, w.do(scopedCall(`{}`, sdk.Soft)), run.PluginUnavailable,
		"[SAFETY_BLOCKED] The scope plugin is not there")
}

func TestATamperingScopePluginIsDenied(t *testing.T) {
	w := newWorld(t)
	w.scoper.inject = func(sdk.InjectRequest) (sdk.Injection, error) {
		return sdk.Injection{Args: json.RawMessage(`{"query":"another"}`), Applied: true}, nil
	}
	got := w.do(scopedCall(`{"query":"mine"}`, sdk.Hard))
	wantDenied(t, w, got, run.DeniedTampered,
		"[SAFETY_BLOCKED] The scope plugin changed arguments that are not about scope")
	want := []run.ChainLink{{
		Source: "scope:pska-scope", Action: sdk.Deny, Reason: "The scope plugin changed arguments that are not about scope",
	}}
	if diff := cmp.Diff(want, got.Decision.Chain); diff != "" {
		t.Errorf("chain (-want +got):\n%s", diff)
	}
}

func TestADecisionThatCannotBeRecordedDenies(t *testing.T) {
	w := newWorld(t)
	w.recorder.err = errors.New("disk full")
	wantDenied(t, w, w.do(callOf("read_file", `{}`)), run.DeniedAudit,
		"[SAFETY_BLOCKED] The decision could not be recorded")
}

func TestARecorderThatNeverCommitsRunsNothing(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	ctx, cancel := context.WithCancel(context.Background())
	v := g.Check(ctx, callOf("read_file", `{}`))
	cancel()
	wantDenied(t, w, g.Do(ctx, v, nil), run.DeniedAudit, "[SAFETY_BLOCKED] The decision could not be recorded")
}

func TestACallThatNeedsAPersonIsDeniedWithoutOne(t *testing.T) {
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"exec": "require_approval"}
	wantDenied(t, w, w.do(callOf("exec", `{"command":"ls"}`)), run.DeniedApproval,
		"[SAFETY_DENIED] approval required: Policy tool:exec requires approval")
}

func TestTheZeroVerdictDenies(t *testing.T) {
	w := newWorld(t)
	got := w.gate().Do(context.Background(), Verdict{}, nil)
	wantDenied(t, w, got, run.DeniedStale, "[SAFETY_BLOCKED] This call was not judged by the policy in force")
	if v := (Verdict{}); !v.Denied() || v.NeedsApproval() {
		t.Error("the zero verdict does not deny")
	}
}

func TestAVerdictOfAnotherGateDenies(t *testing.T) {
	w := newWorld(t)
	v := w.gate().Check(context.Background(), callOf("read_file", `{}`))
	got := w.gate().Do(context.Background(), v, approvalOf(v))
	wantDenied(t, w, got, run.DeniedStale, "[SAFETY_BLOCKED] This call was not judged by the policy in force")
}

func TestAVerdictIsCarriedOutOnce(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	v := g.Check(context.Background(), callOf("read_file", `{}`))
	first, second := g.Do(context.Background(), v, nil), g.Do(context.Background(), v, nil)
	if first.Denied != "" || second.Denied != run.DeniedStale || len(w.source.sent) != 1 {
		t.Errorf("first %+v, second %+v, sent %d", first, second, len(w.source.sent))
	}
}

func TestAToolThatVanishedIsNotFound(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	v := g.Check(context.Background(), callOf("read_file", `{}`))
	w.source.setTools()
	wantDenied(t, w, g.Do(context.Background(), v, nil), run.DeniedUnknownTool, "[ERROR] Tool 'read_file' not found")
}

func TestAToolThatChangedIsBlocked(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	v := g.Check(context.Background(), callOf("read_file", `{}`))
	w.source.setTools(run.Tool{Name: "read_file", Digest: "d-new"})
	wantDenied(t, w, g.Do(context.Background(), v, nil), run.DeniedStale,
		"[SAFETY_BLOCKED] The tool changed after the call was judged")
}

func TestADeniedCallShowsNothingOutsideTheScope(t *testing.T) {
	w := newWorld(t)
	call := callOf("pska_pska_search", `{"query":"q","source_item_ids":["elsewhere"],"knowledge_base_ids":["beta"]}`)
	call.ToolPolicy = run.ToolPolicy{Mode: run.NoTools, Scope: &sdk.Scope{
		Mode: sdk.Hard, KnowledgeBaseIDs: []string{"alpha"}, SourceItemIDs: []string{"a1"},
	}}
	v := w.gate().Check(t.Context(), call)
	if !v.Denied() {
		t.Fatal("not denied")
	}
	var args map[string]any
	if err := json.Unmarshal(v.Args(), &args); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"alpha"}, args["knowledge_base_ids"]); diff != "" {
		t.Errorf("knowledge bases (-want +got):\n%s", diff)
	}
}
