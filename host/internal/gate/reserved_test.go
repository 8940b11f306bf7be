package gate

import (
	"slices"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// reserved is a world with one more tool, which belongs to runs of one profile.
func reserved(t *testing.T) *world {
	w := newWorld(t)
	w.source.tools = append(w.source.tools, run.Tool{
		Name: "query_logs", RawName: "query_logs", Source: run.FromNative, Digest: "d-logs", Profile: "diagnosis",
	})
	return w
}

func TestAReservedToolIsForRunsOfItsProfileAlone(t *testing.T) {
	for name, bound := range map[string]run.ToolPolicy{
		"a plain run":        {},
		"another profile":    {Profile: "general"},
		"named by a client":  {Mode: run.Allowlist, Allowed: []string{"query_logs"}},
		"named in its hopes": {Budget: map[string]int{"query_logs": 5}},
	} {
		t.Run(name, func(t *testing.T) {
			w := reserved(t)
			for _, tool := range w.gate().Visible(t.Context(), bound) {
				if tool.Name == "query_logs" {
					t.Error("the tool is visible")
				}
			}
			call := callOf("query_logs", `{}`)
			call.ToolPolicy = bound
			wantDenied(t, w, w.do(call), run.DeniedHidden, "[TOOL_POLICY_DENIED] tool 'query_logs' is not for this kind of run")
		})
	}
}

func TestARunOfTheProfileSeesAndRunsItsReservedTool(t *testing.T) {
	w := reserved(t)
	bound := run.ToolPolicy{Profile: "diagnosis", Mode: run.Allowlist, Allowed: []string{"query_logs"}}
	if got := w.gate().Visible(t.Context(), bound); len(got) != 1 || got[0].Name != "query_logs" {
		t.Errorf("visible %+v", got)
	}
	call := callOf("query_logs", `{}`)
	call.ToolPolicy = bound
	if got := w.do(call); got.Denied != "" || len(w.source.sent) != 1 {
		t.Errorf("outcome %+v", got)
	}
}

func TestAReservationDoesNotOverrideWhatTheRunMayDo(t *testing.T) {
	w := reserved(t)
	call := callOf("query_logs", `{}`)
	call.ToolPolicy = run.ToolPolicy{Profile: "diagnosis", Mode: run.NoTools}
	if got := w.do(call); got.Denied != run.DeniedNoTools {
		t.Errorf("outcome %+v", got)
	}
	mustNotRun(t, w)
}

func TestAToolThatBecameReservedAfterTheVerdictDoesNotRun(t *testing.T) {
	w := reserved(t)
	w.source.tools[4].Profile = ""
	g := w.gate()
	v := g.Check(t.Context(), callOf("query_logs", `{}`))
	w.source.setTools(run.Tool{Name: "query_logs", RawName: "query_logs", Digest: "d-logs", Profile: "diagnosis"})
	wantDenied(t, w, g.Do(t.Context(), v, nil), run.DeniedHidden, "[TOOL_POLICY_DENIED] tool 'query_logs' is not for this kind of run")
}

func TestTheHouseItselfKnowsReservedToolsToo(t *testing.T) {
	var names []string
	for _, tool := range reserved(t).gate().Tools(t.Context()) {
		names = append(names, tool.Name)
	}
	if want := []string{"docs_find", "exec", "pska_pska_search", "query_logs", "read_file"}; !slices.Equal(names, want) {
		t.Errorf("tools %v", names)
	}
}

func TestACallThatNeedsAPersonIsDeniedWhereNobodyCanBeAsked(t *testing.T) {
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"read_file": "require_approval"}
	call := callOf("read_file", `{}`)
	call.ToolPolicy.Unattended = true
	g := w.gate()
	v := g.Check(t.Context(), call)
	if v.NeedsApproval() || !v.Denied() {
		t.Errorf("verdict %+v", v.Decision())
	}
	got := g.Do(t.Context(), v, nil)
	wantDenied(t, w, got, run.DeniedUnattended, "[SAFETY_BLOCKED] The call needs approval, and nobody can be asked")
	if got.Decision.PolicyAction != sdk.RequireApproval || got.Decision.Level() != run.Forbidden {
		t.Errorf("decision %+v", got.Decision)
	}
	if len(w.recorder.records) != 1 || w.recorder.records[0].Dispatched {
		t.Errorf("records %+v", w.recorder.records)
	}
}

func TestAPersonsYesDoesNotOpenAnUnattendedRun(t *testing.T) {
	w, g, v := asked(t)
	call := v.Call()
	call.ToolPolicy.Unattended = true
	got := g.Do(t.Context(), g.Check(t.Context(), call), approvalOf(v))
	wantDenied(t, w, got, run.DeniedUnattended, "[SAFETY_BLOCKED] The call needs approval, and nobody can be asked")
}

func TestACallThatNeedsNobodyRunsUnattended(t *testing.T) {
	w := newWorld(t)
	call := callOf("read_file", `{}`)
	call.ToolPolicy.Unattended = true
	if got := w.do(call); got.Denied != "" || len(w.source.sent) != 1 {
		t.Errorf("outcome %+v", got)
	}
}

func TestACallMayHaveLessTimeThanTheGateGives(t *testing.T) {
	for name, test := range map[string]struct{ gate, call time.Duration }{
		"less":        {time.Minute, time.Millisecond},
		"no more":     {time.Millisecond, time.Minute},
		"not its own": {time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.timeout = test.gate
			w.source.hang, w.source.hanging = true, make(chan struct{})
			call := callOf("read_file", `{}`)
			call.Timeout = test.call
			if got := w.do(call); got.Content != "[ERROR] Tool 'read_file' did not answer in time" {
				t.Errorf("content %q", got.Content)
			}
		})
	}
}
