package gate

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// unkept is a call of a face that keeps no runs: nobody ever claimed the run of its fence.
func unkept(tool, args string) run.Call {
	call := callOf(tool, args)
	call.Fence, call.Unkept, call.Workspace = run.Fence{Ref: run.Ref{ID: "turn-1"}}, true, "lab"
	return call
}

func TestADecisionOnACallOfNoRunIsNotedBeforeItRuns(t *testing.T) {
	w := newWorld(t)
	if got := w.do(unkept("read_file", `{}`)); got.Denied != "" || len(w.source.sent) != 1 {
		t.Fatalf("outcome %+v, sent %v", got, w.source.sent) // the source refuses what was not noted as dispatched
	}
	var stages []run.AuditStage
	for _, record := range w.recorder.records {
		stages = append(stages, record.Stage)
		if record.Run != (run.Ref{ID: "turn-1"}) || record.CallID != "call-1" {
			t.Errorf("record of call %q of %v", record.CallID, record.Run)
		}
	}
	if diff := cmp.Diff([]run.AuditStage{run.Decided, run.Ended}, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestACallOfNoRunAsksNoFence(t *testing.T) {
	for name, call := range map[string]run.Call{
		"a call that runs": unkept("read_file", `{}`), "a call that is denied": unkept("nothing", `{}`),
	} {
		w := newWorld(t)
		w.do(call)
		if len(w.recorder.fences) > 0 || len(w.recorder.records) == 0 {
			t.Errorf("%s: fences %v, records %v", name, w.recorder.fences, w.recorder.records)
		}
	}
}

func TestACallOfARunAsksItsFence(t *testing.T) {
	w := newWorld(t)
	call := callOf("read_file", `{}`)
	w.do(call)
	if diff := cmp.Diff([]run.Fence{call.Fence}, w.recorder.fences); diff != "" {
		t.Errorf("fences (-want +got):\n%s", diff)
	}
}

func TestANoteThatCannotBeMadeDenies(t *testing.T) {
	w := newWorld(t)
	w.recorder.err = errors.New("disk full")
	wantDenied(t, w, w.do(unkept("read_file", `{}`)), run.DeniedAudit,
		"[SAFETY_BLOCKED] The decision could not be recorded")
}

func TestASourceIsToldTheWorkspaceOfACall(t *testing.T) {
	for _, want := range []string{"lab", ""} {
		w := newWorld(t)
		call := unkept("read_file", `{}`)
		call.Workspace = want
		w.do(call)
		if len(w.source.sent) != 1 || w.source.sent[0].Workspace != want {
			t.Errorf("sent %+v, want workspace %q", w.source.sent, want)
		}
	}
}

// asking makes the world's read_file a tool that always asks.
func asking(t *testing.T) *world {
	w := newWorld(t)
	w.source.setTools(run.Tool{Name: "read_file", RawName: "read_file", Digest: "d-read", Asks: true})
	return w
}

func TestNoRuleLiftsWhatAToolAsksOfAPerson(t *testing.T) {
	for name, lift := range map[string]func(*world){
		"a rule of the tool":   func(w *world) { w.rules.ToolRules = map[string]any{"read_file": "allow"} },
		"a rule of the user":   func(w *world) { w.rules.UserRules = map[string]any{"pska:user_primary": "allow"} },
		"a rule of the tenant": func(w *world) { w.rules.TenantRules = map[string]any{"pska": "allow"} },
		"the default":          func(w *world) { w.rules.DefaultAction = "allow" },
		"allow-all":            func(w *world) { w.rules.AllowAll = true },
		"a policy plugin": func(w *world) {
			w.judges = []*fakeJudge{{name: "p", wants: []string{"*"}, opinion: sdk.Opinion{Action: sdk.Allow}}}
		},
	} {
		w := asking(t)
		lift(w)
		v := w.gate().Check(t.Context(), callOf("read_file", `{}`))
		if !v.NeedsApproval() {
			t.Errorf("%s: decision %+v", name, v.Decision())
		}
		wantDenied(t, w, w.do(callOf("read_file", `{}`)), run.DeniedApproval,
			"[SAFETY_DENIED] approval required: The tool always needs approval")
	}
}

func TestWhatAToolAsksStandsInTheChain(t *testing.T) {
	w := asking(t)
	w.rules.ToolRules = map[string]any{"read_file": "allow"}
	chain := w.gate().Check(t.Context(), callOf("read_file", `{}`)).Decision().Chain
	want := run.ChainLink{Source: "tool", Action: sdk.RequireApproval, Reason: "The tool always needs approval"}
	if diff := cmp.Diff(want, chain[len(chain)-1]); diff != "" {
		t.Errorf("last link (-want +got):\n%s", diff)
	}
}

func TestAToolThatAsksIsStillDeniedByARule(t *testing.T) {
	w := asking(t)
	w.rules.ToolRules = map[string]any{"read_file": "deny"}
	wantDenied(t, w, w.do(callOf("read_file", `{}`)), run.DeniedByPolicy, "[SAFETY_BLOCKED] Policy tool:read_file denies tool")
}

func TestAToolThatAsksIsDeniedWhereNobodyCanBeAsked(t *testing.T) {
	w := asking(t)
	w.rules.AllowAll = true
	call := callOf("read_file", `{}`)
	call.ToolPolicy.Unattended = true
	wantDenied(t, w, w.do(call), run.DeniedUnattended, "[SAFETY_BLOCKED] The call needs approval, and nobody can be asked")
}

func TestAToolThatAsksRunsWithAPersonsApproval(t *testing.T) {
	w := asking(t)
	g := w.gate()
	v := g.Check(t.Context(), unkept("read_file", `{}`))
	if got := g.Do(context.Background(), v, approvalOf(v)); got.Denied != "" || !got.Approved || len(w.source.sent) != 1 {
		t.Errorf("outcome %+v, sent %v", got, w.source.sent)
	}
}

func TestATryOfAToolThatAsksSaysSo(t *testing.T) {
	w := asking(t)
	got := w.gate().DryRun(t.Context(), Probe{Tool: "read_file", Identity: sdk.Identity{UserKey: "u"}})
	if got.Action != sdk.RequireApproval {
		t.Errorf("decision %+v", got)
	}
}
