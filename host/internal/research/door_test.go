package research_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// agentCall is a call as an agent's face makes it.
func agentCall(tool, args string) run.Call {
	return run.Call{
		Fence: run.Fence{Ref: run.Ref{ID: "turn"}}, ID: "call", Tool: tool, Args: json.RawMessage(args), Workspace: space, Unkept: true,
		ToolPolicy: run.ToolPolicy{
			Mode: run.Allowlist, Allowed: []string{research.ToolState, research.ToolPrepare}, Profile: run.AgentTools,
		},
	}
}

func (w *world) call(call run.Call, approval *run.Approval) run.CallOutcome {
	return w.door.Do(w.t.Context(), w.door.Check(w.t.Context(), call), approval)
}

const prepareArgs = `{"selection_ids":["` + object + `"],"question":"Who?","exclusions":[]}`

func TestAnAgentPreparesAndReadsWhatAPersonSees(t *testing.T) {
	w := newWorld(t)
	desk := w.desk()
	prepared := w.call(agentCall(research.ToolPrepare, prepareArgs), nil)
	read := w.call(agentCall(research.ToolState, `{}`), nil)
	seen := encoded(t, must(t)(desk.Snapshot(t.Context(), space)))
	if diff := cmp.Diff([]string{seen, seen}, []string{prepared.Content, read.Content}); diff != "" || prepared.IsError || read.IsError {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	w.wantContacts(0)
}

func TestAToolWorksOnTheWorkspaceThatTheHostChose(t *testing.T) {
	w := newWorld(t)
	desk := w.desk()
	call := agentCall(research.ToolPrepare, prepareArgs)
	call.Identity = sdk.Identity{UserKey: "agent-tools:beta", UserID: "beta"}
	w.call(call, nil)
	if got := must(t)(desk.Snapshot(t.Context(), space)); got.State != research.Prepared {
		t.Errorf("the chosen workspace is %s", got.State)
	}
	call.Workspace = ""
	if got := w.call(call, nil); got.Content != `{"error":"workspace_none"}` || !got.IsError {
		t.Errorf("without a workspace: %+v", got)
	}
}

func TestAFailedToolSaysItsCodeAndNothingElse(t *testing.T) {
	for want, change := range map[string]func(*world, *run.Call){
		"object_unknown":   func(w *world, _ *run.Call) { w.objects = nil },
		"snapshot_missing": func(w *world, _ *run.Call) { w.lookErr = &run.Error{Code: "snapshot_missing", Op: "/srv/secret"} },
		"snapshot_invalid": func(w *world, _ *run.Call) { w.lookErr = &run.Error{Code: "snapshot_invalid", Op: "/srv/secret"} },
		// A reader that a rule denies, or that has failed, says nothing about the snapshot.
		"research_unavailable": func(w *world, _ *run.Call) { w.lookErr = errors.New("/srv/secret") },
		"research_refused": func(_ *world, c *run.Call) {
			c.Args = json.RawMessage(`{"selection_ids":["` + object + `"],"question":"?","exclusions":["archive"]}`)
		},
		"research_invalid": func(_ *world, c *run.Call) {
			c.Args = json.RawMessage(`{"selection_ids":["x"],"question":"?","exclusions":[]}`)
		},
		"research_limit": func(w *world, _ *run.Call) { w.limits.EntryBytes = 100 },
	} {
		w := newWorld(t)
		call := agentCall(research.ToolPrepare, prepareArgs)
		change(w, &call)
		w.desk()
		if got := w.call(call, nil); got.Content != `{"error":"`+want+`"}` || !got.IsError {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

// contactCall is the call that a campaign makes of an action, as somebody who knows everything would forge it.
func contactCall(plan research.Snapshot, i int) run.Call {
	a := plan.Actions[i]
	args, _ := json.Marshal(map[string]any{
		"action_id": a.ActionID, "capability_id": a.CapabilityID, "provider_id": a.ProviderID, "subject": a.Subject,
		"question": plan.Question, "max_response_bytes": a.MaxResponseBytes, "max_active_ms": a.MaxActive.Milliseconds(),
	})
	call := agentCall(research.ToolContact, string(args))
	call.ToolPolicy.Allowed = append(call.ToolPolicy.Allowed, research.ToolContact)
	return call
}

func TestAnAgentCannotReachTheToolThatContacts(t *testing.T) {
	w := newWorld(t)
	_, plan := w.granted()
	call := contactCall(plan, 0)
	call.ToolPolicy.Allowed = []string{research.ToolState, research.ToolPrepare}
	if got := w.call(call, nil); got.Denied != run.DeniedNotAllowed {
		t.Errorf("not among the allowed: %+v", got)
	}
	call = contactCall(plan, 0)
	call.ToolPolicy.Profile = ""
	if got := w.call(call, nil); got.Denied != run.DeniedHidden {
		t.Errorf("of another profile: %+v", got)
	}
	w.wantContacts(0)
}

func TestTheToolThatContactsNeedsAnApprovalWhateverTheRulesSay(t *testing.T) {
	for name, change := range map[string]func(*world){
		"a rule allows it": func(w *world) {
			w.rules.ToolRules = map[string]any{"research_contact": "allow", "research.contact": "allow"}
		},
		"all is allowed": func(w *world) { w.rules.AllowAll = true },
	} {
		w := newWorld(t)
		change(w)
		_, plan := w.granted()
		if got := w.call(contactCall(plan, 0), nil); got.Denied != run.DeniedApproval {
			t.Errorf("%s: %+v", name, got)
		}
		w.wantContacts(0)
	}
}

func TestWithoutACampaignNoApprovalContactsAnybody(t *testing.T) {
	w := newWorld(t)
	_, plan := w.granted()
	call := contactCall(plan, 0)
	verdict := w.door.Check(t.Context(), call)
	got := w.door.Do(t.Context(), verdict, &run.Approval{
		ID: plan.Grants[0].GrantID, Run: call.Fence.Ref, ToolCallID: call.ID, ToolName: call.Tool, Status: run.Approved,
		ArgsDigest: verdict.ArgsDigest(), ToolDigest: verdict.Tool().Digest,
	})
	want := `{"contacted":false,"reason":"not_granted","digest":"","excerpt":""}`
	if got.Content != want || !got.IsError {
		t.Errorf("got %+v", got)
	}
	w.wantContacts(0)
}

func TestAProviderThatMovedSinceTheGrantIsNotContacted(t *testing.T) {
	w := newWorld(t)
	_, plan := w.granted()
	moved := newProvider(t)
	w.providers[0].URL = moved.url
	after := must(t)(w.desk().Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	if a := after.Actions[0]; a.ResultStatus != research.ResultFailed || a.Contacted {
		t.Errorf("action %+v", a)
	}
	if len(moved.requests()) > 0 {
		t.Error("the new address was contacted")
	}
	w.wantContacts(0)
}

func TestAGrantRevokedBeforeTheCallLeavesContactsNobody(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.recorder.before = func(record run.Audit) {
		if record.Tool == research.ToolContact && record.Dispatched {
			must(t)(desk.Revoke(t.Context(), space, plan.Grants[0].GrantID))
		}
	}
	after := must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	if a := after.Actions[0]; a.ResultStatus != research.ResultFailed || a.Contacted {
		t.Errorf("action %+v", a)
	}
	w.wantContacts(0)
}

func TestAContactIsInTheBooksUnderItsGrant(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	stages := []run.AuditStage{}
	for _, note := range w.recorder.notes {
		stages = append(stages, note.Stage)
		if note.Stage == run.Decided && note.ApprovalID != plan.Grants[0].GrantID || note.UserKey != "agent-tools:alpha" {
			t.Errorf("note %+v", note)
		}
	}
	if diff := cmp.Diff([]run.AuditStage{run.Decided, run.Ended}, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestADecisionThatCannotBeRecordedContactsNobody(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.recorder.err = errors.New("disk")
	after := must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	if a := after.Actions[0]; a.ResultStatus != research.ResultFailed || a.Contacted {
		t.Errorf("action %+v", a)
	}
	w.wantContacts(0)
}

func TestTheToolsAreReservedAndOnlyOneAsks(t *testing.T) {
	got := []string{}
	for _, tool := range newWorld(t).desk().Tools(t.Context()) {
		if tool.Profile != run.AgentTools || tool.Scoped || tool.Digest == "" || !json.Valid(tool.Schema) {
			t.Errorf("tool %+v", tool)
		}
		got = append(got, tool.Name+" "+tool.RawName)
		if tool.Asks != (tool.Name == research.ToolContact) {
			t.Errorf("%s asks: %v", tool.Name, tool.Asks)
		}
	}
	want := []string{"research_get_state research.get_state", "research_prepare research.prepare", "research_contact research.contact"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
