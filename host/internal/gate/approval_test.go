package gate

import (
	"context"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// asked is a world where exec needs a person, and the verdict on one exec.
func asked(t *testing.T) (*world, *Gate, Verdict) {
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"exec": "require_approval"}
	g := w.gate()
	v := g.Check(context.Background(), callOf("exec", `{"command":"rm test.txt"}`))
	if !v.NeedsApproval() {
		t.Fatalf("verdict needs no approval: %+v", v.Decision())
	}
	return w, g, v
}

func TestAnApprovedCallRunsOnceWithTheArgumentsThatWereShown(t *testing.T) {
	w, g, v := asked(t)
	approval := approvalOf(v)
	got := g.Do(context.Background(), v, approval)
	if got.Denied != "" || !got.Approved || len(w.source.sent) != 1 {
		t.Fatalf("outcome %+v, sent %d", got, len(w.source.sent))
	}
	if digest := run.Digest(w.source.sent[0].Args); digest != approval.ArgsDigest {
		t.Errorf("sent %s", w.source.sent[0].Args)
	}
	if id := w.recorder.records[0].ApprovalID; id != approval.ID {
		t.Errorf("recorded approval = %q", id)
	}
}

func TestAnApprovalThatDoesNotCoverTheCallIsRefused(t *testing.T) {
	cases := map[string]struct {
		change func(*run.Approval)
		code   run.DenialCode
		text   string
	}{
		"of another run": {
			func(a *run.Approval) { a.Run.Tenant = "other" },
			run.DeniedStale, "[SAFETY_BLOCKED] The approval belongs to another call",
		},
		"of another call": {
			func(a *run.Approval) { a.ToolCallID = "call-2" },
			run.DeniedStale, "[SAFETY_BLOCKED] The approval belongs to another call",
		},
		"of another tool": {
			func(a *run.Approval) { a.ToolName = "read_file" },
			run.DeniedStale, "[SAFETY_BLOCKED] The approval belongs to another call",
		},
		"of other arguments": {
			func(a *run.Approval) { a.ArgsDigest = run.Digest([]byte(`{"command":"ls"}`)) },
			run.DeniedStale, "[SAFETY_BLOCKED] The call or the tool changed after it was approved",
		},
		"of the tool as it was": {
			func(a *run.Approval) { a.ToolDigest = "d-old" },
			run.DeniedStale, "[SAFETY_BLOCKED] The call or the tool changed after it was approved",
		},
		"pending": {
			func(a *run.Approval) { a.Status = run.Pending },
			run.DeniedApproval, "[SAFETY_DENIED] approval is still pending",
		},
		"of an unknown status": {
			func(a *run.Approval) { a.Status = "granted" },
			run.DeniedApproval, "[SAFETY_DENIED] approval is still pending",
		},
		"denied": {
			func(a *run.Approval) { a.Status, a.Resolution = run.Denied, "too\x1b[31m risky\n" },
			run.DeniedApproval, "[SAFETY_DENIED] approval denied: too [31m risky",
		},
		"denied without a reason": {
			func(a *run.Approval) { a.Status = run.Denied },
			run.DeniedApproval, "[SAFETY_DENIED] approval denied",
		},
		"expired": {
			func(a *run.Approval) { a.Status, a.Resolution = run.Expired, "approval_timeout" },
			run.DeniedExpired, "[SAFETY_DENIED] approval expired: approval_timeout",
		},
		"cancelled with the run": {
			func(a *run.Approval) { a.Status, a.Resolution = run.ApprovalCancelled, "run_cancelled" },
			run.DeniedCancelled, "[SAFETY_BLOCKED] approval cancelled: run_cancelled",
		},
		"cancelled as stale": {
			func(a *run.Approval) { a.Status, a.Resolution = run.ApprovalCancelled, "approval_stale" },
			run.DeniedStale, "[SAFETY_BLOCKED] The call or the tool changed before it was approved",
		},
		"cancelled by policy": {
			func(a *run.Approval) { a.Status, a.Resolution = run.ApprovalCancelled, "policy_denied" },
			run.DeniedByPolicy, "[SAFETY_BLOCKED] Policy denied the call before it was approved",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, g, v := asked(t)
			approval := approvalOf(v)
			c.change(approval)
			wantDenied(t, w, g.Do(context.Background(), v, approval), c.code, c.text)
		})
	}
}

func TestADenialStandsWhenPolicyIsLooserAfterwards(t *testing.T) {
	_, _, v := asked(t)
	denied := approvalOf(v)
	denied.Status = run.Denied
	w := newWorld(t)
	g := w.gate()
	again := g.Check(context.Background(), v.Call())
	if again.NeedsApproval() {
		t.Fatal("policy is not looser")
	}
	wantDenied(t, w, g.Do(context.Background(), again, denied), run.DeniedApproval, "[SAFETY_DENIED] approval denied")
}

func TestAnApprovalDoesNotOutliveThePolicy(t *testing.T) {
	_, _, v := asked(t)
	w := newWorld(t)
	w.rules.ToolRules = map[string]any{"exec": "deny"}
	g := w.gate()
	got := g.Do(context.Background(), g.Check(context.Background(), v.Call()), approvalOf(v))
	wantDenied(t, w, got, run.DeniedByPolicy, "[SAFETY_BLOCKED] Policy tool:exec denies tool")
}

func TestACallWhoseToolVanishedWhileAPersonThoughtIsBlocked(t *testing.T) {
	statuses := map[run.ApprovalStatus]string{
		run.Approved:          "[SAFETY_BLOCKED] The call or the tool changed after it was approved",
		run.ApprovalCancelled: "[SAFETY_BLOCKED] The call or the tool changed before it was approved",
	}
	for status, text := range statuses {
		w, _, v := asked(t)
		approval := approvalOf(v)
		approval.Status, approval.Resolution = status, "approval_stale"
		w.source.setTools()
		g := w.gate()
		got := g.Do(context.Background(), g.Check(context.Background(), v.Call()), approval)
		wantDenied(t, w, got, run.DeniedStale, text)
	}
}

func TestAPersonsDenialKeepsTheLevelThatAsked(t *testing.T) {
	_, g, v := asked(t)
	approval := approvalOf(v)
	approval.Status = run.Expired
	if got := g.Do(context.Background(), v, approval).Decision.Level(); got != run.Danger {
		t.Errorf("level = %s, want danger", got)
	}
}

func TestRecheckSaysWhatChangedSinceAsking(t *testing.T) {
	cases := map[string]struct {
		change func(*world, *run.Run, *run.Approval)
		want   run.Code
	}{
		"nothing":                  {func(*world, *run.Run, *run.Approval) {}, ""},
		"a rule denies now":        {func(w *world, _ *run.Run, _ *run.Approval) { w.rules.ToolRules = map[string]any{"exec": "deny"} }, run.CodePolicyDenied},
		"a plugin denies now":      {func(w *world, _ *run.Run, _ *run.Approval) { w.guard.err = pluginFailure{run.PluginTrapped} }, run.CodePolicyDenied},
		"the run may not any more": {func(_ *world, r *run.Run, _ *run.Approval) { r.Request.ToolPolicy.Mode = run.NoTools }, run.CodePolicyDenied},
		"the tool is gone":         {func(w *world, _ *run.Run, _ *run.Approval) { w.source.setTools() }, run.CodeApprovalStale},
		"the tool changed":         {func(_ *world, _ *run.Run, a *run.Approval) { a.ToolDigest = "d-old" }, run.CodeApprovalStale},
		"the arguments changed":    {func(_ *world, _ *run.Run, a *run.Approval) { a.ArgsDigest = "sha256:0" }, run.CodeApprovalStale},
		"the arguments do not fit": {func(_ *world, _ *run.Run, a *run.Approval) { a.Args = []byte(`{}`) }, run.CodeApprovalStale},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, _, v := asked(t)
			call, approval := v.Call(), approvalOf(v)
			r := run.Run{Ref: call.Fence.Ref, SessionID: call.SessionID, Request: run.Request{Identity: call.Identity}}
			c.change(w, &r, approval)
			err := w.gate().Recheck(context.Background(), r, *approval)
			if c.want == "" && err != nil || c.want != "" && !run.IsCode(err, c.want) {
				t.Errorf("error = %v, want %q", err, c.want)
			}
			mustNotRun(t, w)
		})
	}
}

func TestRecheckOfAScopedCallFindsTheSameArguments(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	call := scopedCall(`{"source_item_ids":["a2","b1"],"query":"q"}`, sdk.Hard)
	v := g.Check(context.Background(), call)
	r := run.Run{Ref: call.Fence.Ref, Request: run.Request{Identity: call.Identity, ToolPolicy: call.ToolPolicy}}
	if err := g.Recheck(context.Background(), r, *approvalOf(v)); err != nil {
		t.Error(err)
	}
}

func TestRecheckThatWasInterruptedDecidesNothing(t *testing.T) {
	w, g, v := asked(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := g.Recheck(ctx, run.Run{Request: run.Request{Identity: v.Call().Identity}}, *approvalOf(v))
	if err == nil || run.IsCode(err, run.CodePolicyDenied) || run.IsCode(err, run.CodeApprovalStale) {
		t.Errorf("error = %v", err)
	}
	mustNotRun(t, w)
}
