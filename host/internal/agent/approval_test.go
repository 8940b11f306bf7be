package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// dangerous is a step of three calls, two of which need a person.
func dangerous() []model.Turn {
	ask := model.Ask(wish("c1", "look", `{}`), wish("c2", "write", `{"n":1}`), wish("c3", "write", `{"n":2}`))
	ask.Reply.Reasoning = "because"
	return []model.Turn{ask, model.Say("Done.")}
}

func askFirst(s *setting) { s.rules = map[string]any{"look": "allow", "write": "require_approval"} }

func TestACallThatNeedsAPersonParksTheRun(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	if r := w.run(t); r.Phase != run.AwaitingApproval || r.Owner != "" || len(w.tools.ran()) != 0 {
		t.Errorf("phase %q, owner %q, ran %v", r.Phase, r.Owner, w.tools.ran())
	}
	asks := only(w.events(t), run.AskUser)
	want := []string{
		"ask_user write c2 | Policy tool:write requires approval", "ask_user write c3 | Policy tool:write requires approval",
	}
	if diff := cmp.Diff(want, lines(asks)); diff != "" {
		t.Fatalf("asks (-want +got):\n%s", diff)
	}
	approval := w.approvals(t)[0]
	shown := map[string]any{
		"request_id": approval.ID, "decision_level": "danger", "timeout_seconds": 300.0,
		"expires_at":   approval.ExpiresAt.Format("2006-01-02T15:04:05.000000") + "+00:00",
		"policy_scope": "tool:write", "policy_action": "require_approval", "policy_matched": true,
		"args_digest": approval.ArgsDigest,
	}
	if diff := cmp.Diff(shown, metadata(t, asks[0])); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if asks[0].ApprovalID != approval.ID || string(asks[0].ToolArgs) != `{"n":1}` {
		t.Errorf("ask %+v", asks[0])
	}
}

func TestAnApprovedRunGoesOnAsIfItNeverStopped(t *testing.T) {
	straight := newWorld(t, dangerous())
	straight.drive(t)
	parked := newWorld(t, dangerous(), askFirst)
	parked.drive(t)
	parked.answer(t, run.Approved)
	s := setting{}
	askFirst(&s)
	parked.employ(t, s)
	if outcome := parked.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	var without []run.Event
	for _, event := range parked.events(t) {
		if event.Kind != run.AskUser {
			without = append(without, event)
		}
	}
	if diff := cmp.Diff(lines(straight.events(t)), lines(without)); diff != "" {
		t.Errorf("events (-straight +parked):\n%s", diff)
	}
	if diff := cmp.Diff(straight.model.Requests(), parked.model.Requests()); diff != "" {
		t.Errorf("requests (-straight +parked):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c1", "c2", "c3"}, parked.tools.ran()); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	fields := metadata(t, only(parked.events(t), run.ToolResult)[1])
	if fields["approved"] != true || fields["request_id"] != parked.approvals(t)[0].ID {
		t.Errorf("metadata %v", fields)
	}
	if got := parked.run(t).Outcome.Approvals; got != 2 {
		t.Errorf("%d approvals", got)
	}
}

func TestACallThatWasNotApprovedIsAnsweredAsDenied(t *testing.T) {
	for status, code := range map[run.ApprovalStatus]string{run.Denied: "approval_denied", run.Expired: "approval_expired"} {
		t.Run(string(status), func(t *testing.T) {
			w := newWorld(t, dangerous(), askFirst)
			w.drive(t)
			w.answer(t, status)
			if outcome := w.drive(t); outcome != agent.Finished {
				t.Fatalf("outcome %v", outcome)
			}
			results := only(w.events(t), run.ToolResult)
			if fields := metadata(t, results[1]); fields["denial_code"] != code || fields["approved"] != false {
				t.Errorf("%s: %v", results[1].Content, fields)
			}
			if diff := cmp.Diff([]string{"c1"}, w.tools.ran()); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADriveWhileAnApprovalIsPendingParksAgain(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	w.unparked = true
	w.drive(t)
	first := w.approvals(t)[0]
	resolution := run.Resolution{ID: first.ID, Status: run.Approved}
	if _, _, err := w.Resolve(t.Context(), resolution); err != nil {
		t.Fatal(err)
	}
	before := len(w.events(t))
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	if after := len(w.events(t)); after != before || len(w.tools.ran()) != 0 {
		t.Errorf("%d events became %d, ran %v", before, after, w.tools.ran())
	}
}

func TestAnApprovalIsWorthNothingOncePolicyDenies(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	w.drive(t)
	w.answer(t, run.Approved)
	w.employ(t, setting{rules: map[string]any{"look": "allow", "write": "deny"}})
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	result := only(w.events(t), run.ToolResult)[1]
	if diff := cmp.Diff([]string{"c1"}, w.tools.ran()); diff != "" || !strings.HasPrefix(result.Content, "[SAFETY_BLOCKED]") {
		t.Errorf("%s, ran (-want +got):\n%s", result.Content, diff)
	}
}

func TestTheTimeoutIsWrittenAsTheContractWritesIt(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	w.drive(t)
	if raw := string(only(w.events(t), run.AskUser)[0].Metadata); !strings.Contains(raw, `"timeout_seconds":300.0`) {
		t.Errorf("metadata %s", raw)
	}
}
