package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// errKilled stands for the end of the process.
var errKilled = errors.New("killed")

// once is a step of one call.
func once() []model.Turn {
	return []model.Turn{model.Ask(wish("c1", "write", `{"n":1}`)), model.Say("Done.")}
}

// loseResult drives until a result should be stored, ends there as a killed process does, and takes the run again.
func (w *world) loseResult(t *testing.T) {
	t.Helper()
	w.failing = func(batch ledger.Batch) error {
		if len(only(batch.Events, run.ToolResult)) > 0 {
			return errKilled
		}
		return nil
	}
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, errKilled) {
		t.Fatalf("drive: %v", err)
	}
	w.failing = nil
	w.claim(t)
}

// choose answers what is pending with a choice and takes the run again.
func (w *world) choose(t *testing.T, choice run.Choice) {
	t.Helper()
	status := run.Approved
	if choice == run.Abort {
		status = run.Denied
	}
	w.settle(t, run.Resolution{Status: status, Choice: choice, By: "operator"})
	w.claim(t)
}

func (w *world) keys() []string {
	var keys []string
	for _, call := range w.tools.calls {
		keys = append(keys, call.IdempotencyKey)
	}
	return keys
}

// lost is a run whose call left and came back to nobody, and that waits for a person.
func lost(t *testing.T, changes ...func(*setting)) *world {
	t.Helper()
	w := newWorld(t, once(), changes...)
	w.loseResult(t)
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	return w
}

func TestAPersonIsAskedAboutACallWhoseOutcomeWasLost(t *testing.T) {
	w := lost(t)
	approval := w.approvals(t)[0]
	ask := only(w.events(t), run.AskUser)[0]
	want := "ask_user write c1 | The service stopped while the tool 'write' was at work, so nobody knows whether it took " +
		"effect. Look first if you can, then choose: run it once more (retry), go on as if it had worked (treat_as_done), " +
		"or end the run (abort)."
	if got := lines([]run.Event{ask})[0]; got != want || string(ask.ToolArgs) != `{"n":1}` {
		t.Errorf("got %s, args %s", got, ask.ToolArgs)
	}
	fields := metadata(t, ask)
	if diff := cmp.Diff([]any{"retry", "treat_as_done", "abort"}, fields["choices"]); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if fields["kind"] != "outcome_unknown" || fields["request_id"] != approval.ID || approval.Kind != run.UnknownOutcome {
		t.Errorf("metadata %v, kind %q", fields, approval.Kind)
	}
	if r := w.run(t); r.Owner != "" || r.Phase != run.AwaitingApproval || len(w.tools.ran()) != 1 {
		t.Errorf("owner %q, phase %q, ran %v", r.Owner, r.Phase, w.tools.ran())
	}
}

func TestARetryRunsTheCallOnceMoreWithTheSameKey(t *testing.T) {
	w := lost(t)
	w.choose(t, run.Retry)
	if outcome := w.drive(t); outcome != agent.Finished || w.run(t).Status != run.Completed {
		t.Fatalf("outcome %v", outcome)
	}
	if diff := cmp.Diff([]string{"pska/run-1:2", "pska/run-1:2"}, w.keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	fields := metadata(t, only(w.events(t), run.ToolResult)[0])
	if fields["choice"] != "retry" || fields["approved"] != true || fields["outcome_unknown"] != nil {
		t.Errorf("metadata %v", fields)
	}
}

func TestACallThatIsTreatedAsDoneIsNotRunAgain(t *testing.T) {
	w := lost(t)
	w.choose(t, run.TreatAsDone)
	if outcome := w.drive(t); outcome != agent.Finished || w.run(t).Status != run.Completed {
		t.Fatalf("outcome %v", outcome)
	}
	result := only(w.events(t), run.ToolResult)[0]
	want := "A person said that this call took effect. What it returned is not known."
	if result.Content != want || len(w.tools.ran()) != 1 {
		t.Errorf("got %q, ran %v", result.Content, w.tools.ran())
	}
	fields := metadata(t, result)
	if fields["is_error"] != false || fields["outcome_unknown"] != true || fields["choice"] != "treat_as_done" {
		t.Errorf("metadata %v", fields)
	}
	heard := w.model.Requests()[1].Messages
	if got := heard[len(heard)-1].Content; got != want {
		t.Errorf("the model heard %q", got)
	}
}

func TestARunEndsWhoseLostCallNobodyAnswersFor(t *testing.T) {
	for status, reason := range map[run.ApprovalStatus]string{run.Denied: "abort", run.Expired: "approval_expired"} {
		t.Run(string(status), func(t *testing.T) {
			w := lost(t)
			w.answer(t, status)
			if outcome := w.drive(t); outcome != agent.Finished {
				t.Fatalf("outcome %v", outcome)
			}
			r, events := w.run(t), w.events(t)
			if r.Status != run.Failed || r.Outcome.ErrorCode != "outcome_unknown" || len(w.tools.ran()) != 1 {
				t.Errorf("status %s, outcome %+v, ran %v", r.Status, r.Outcome, w.tools.ran())
			}
			want := []string{
				"tool_result write c1 | [ERROR] Run ended before the tool finished, and nobody knows whether it took effect",
				"error   | The run was ended because nobody knows whether the tool 'write' took effect.",
			}
			if diff := cmp.Diff(want, lines(events[len(events)-2:])); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
			if fields := metadata(t, events[len(events)-2]); fields["outcome_unknown"] != true {
				t.Errorf("metadata %v", fields)
			}
			if fields := metadata(t, events[len(events)-1]); fields["reason"] != reason {
				t.Errorf("metadata %v", fields)
			}
		})
	}
}

func TestAToolThatMayBeRunAgainIsRunAgainWithTheSameKey(t *testing.T) {
	w := newWorld(t, once(), func(s *setting) { s.tools.safe = map[string]bool{"write": true} })
	w.loseResult(t)
	if outcome := w.drive(t); outcome != agent.Finished || w.run(t).Status != run.Completed {
		t.Fatalf("outcome %v", outcome)
	}
	if diff := cmp.Diff([]string{"pska/run-1:2", "pska/run-1:2"}, w.keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestARetryWhoseOutcomeIsLostTooIsAskedAboutAgain(t *testing.T) {
	w := lost(t)
	w.choose(t, run.Retry)
	w.loseResult(t)
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	if asks := only(w.events(t), run.AskUser); len(asks) != 2 || len(w.tools.ran()) != 2 {
		t.Errorf("%d asks, ran %v", len(asks), w.tools.ran())
	}
	w.choose(t, run.TreatAsDone)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 2 {
		t.Errorf("outcome %v, ran %v", outcome, w.tools.ran())
	}
}

func TestARetryThatPolicyDeniesTodayIsNotRun(t *testing.T) {
	w := lost(t)
	w.choose(t, run.Retry)
	w.employ(t, setting{rules: map[string]any{"write": "deny"}})
	w.drive(t)
	result := only(w.events(t), run.ToolResult)[0]
	if !strings.HasPrefix(result.Content, "[SAFETY_BLOCKED]") || len(w.tools.ran()) != 1 {
		t.Errorf("got %q, ran %v", result.Content, w.tools.ran())
	}
	if fields := metadata(t, result); fields["outcome_unknown"] != true || fields["denial_code"] != "policy_denied" {
		t.Errorf("metadata %v", fields)
	}
}

func TestARetryIsThePersonsYesWherePolicyNeedsOne(t *testing.T) {
	w := newWorld(t, once(), askFirst)
	w.drive(t)
	w.answer(t, run.Approved)
	w.loseResult(t)
	w.drive(t)
	w.choose(t, run.Retry)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 2 {
		t.Fatalf("outcome %v, ran %v", outcome, w.tools.ran())
	}
	var under []string
	records, err := w.Audits(t.Context(), &w.ref, -1, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if record.Dispatched {
			under = append(under, record.ApprovalID)
		}
	}
	approvals := w.approvals(t)
	if diff := cmp.Diff([]string{approvals[0].ID, approvals[1].ID}, under); diff != "" || len(approvals) != 2 {
		t.Errorf("%d approvals, left under (-want +got):\n%s", len(approvals), diff)
	}
}

func TestARetryOfAToolThatChangedIsAskedAboutAgain(t *testing.T) {
	w := lost(t)
	w.choose(t, run.Retry)
	w.tools.digest = map[string]string{"write": "sha256:other"}
	if outcome := w.drive(t); outcome != agent.Parked || len(w.tools.ran()) != 1 {
		t.Fatalf("outcome %v, ran %v", outcome, w.tools.ran())
	}
	w.choose(t, run.Retry)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 2 {
		t.Errorf("outcome %v, ran %v", outcome, w.tools.ran())
	}
}

func TestALostCallOfARunWithoutPeopleEndsIt(t *testing.T) {
	w := newWorld(t, once(), func(s *setting) { s.request.ToolPolicy.Unattended = true })
	w.loseResult(t)
	if outcome := w.drive(t); outcome != agent.Finished || w.run(t).Outcome.ErrorCode != "outcome_unknown" {
		t.Errorf("outcome %v, run %+v", outcome, w.run(t).Outcome)
	}
	if asks := only(w.events(t), run.AskUser); len(asks) != 0 || len(w.tools.ran()) != 1 {
		t.Errorf("asked %v, ran %v", lines(asks), w.tools.ran())
	}
}

func TestEveryCallIsInTheBooksTogetherWithItsResult(t *testing.T) {
	w := lost(t)
	stages := func() (got []string) {
		records, err := w.Audits(t.Context(), &w.ref, -1, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			got = append(got, string(record.Stage))
		}
		return got
	}
	if diff := cmp.Diff([]string{"decision"}, stages()); diff != "" {
		t.Errorf("without a result (-want +got):\n%s", diff)
	}
	w.choose(t, run.Retry)
	w.drive(t)
	if diff := cmp.Diff([]string{"decision", "decision", "outcome"}, stages()); diff != "" {
		t.Errorf("with one (-want +got):\n%s", diff)
	}
}

func TestAResultIsKeptUntilTheStoreIsBack(t *testing.T) {
	w := newWorld(t, once())
	failures := 2
	w.failing = func(batch ledger.Batch) error {
		if len(only(batch.Events, run.ToolResult)) > 0 && failures > 0 {
			failures--
			return &run.Error{Code: run.CodeStore, Op: "append to run", Sentence: "The store is away."}
		}
		return nil
	}
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 1 || failures != 0 {
		t.Errorf("outcome %v, ran %v, %d failures left", outcome, w.tools.ran(), failures)
	}
	if results := only(w.events(t), run.ToolResult); len(results) != 1 {
		t.Errorf("results %v", lines(results))
	}
}

func TestAResultWhoseCommitWasOnlyNotHeardOfIsWrittenOnce(t *testing.T) {
	w := newWorld(t, once())
	failed := false
	w.failing = func(batch ledger.Batch) error {
		if len(only(batch.Events, run.ToolResult)) == 0 || failed {
			return nil
		}
		failed = true
		if _, err := w.Ledger.Append(t.Context(), w.run(t).Fence(), batch); err != nil {
			t.Error(err)
		}
		return &run.Error{Code: run.CodeStore, Op: "append to run", Sentence: "The store is away."}
	}
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Errorf("outcome %v", outcome)
	}
	if results := only(w.events(t), run.ToolResult); len(results) != 1 || len(w.tools.ran()) != 1 {
		t.Errorf("results %v, ran %v", lines(results), w.tools.ran())
	}
}

func TestAnAnswerOutlivesAResumeThatFails(t *testing.T) {
	w := newWorld(t, once(), askFirst)
	w.drive(t)
	w.answer(t, run.Approved)
	w.unread = &run.Error{Code: run.CodeStore, Op: "read events", Sentence: "The store is away."}
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !run.IsCode(err, run.CodeStore) || len(w.tools.ran()) != 0 {
		t.Fatalf("drive: %v, ran %v", err, w.tools.ran())
	}
	w.claim(t)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 1 {
		t.Errorf("outcome %v, ran %v", outcome, w.tools.ran())
	}
	if asks := only(w.events(t), run.AskUser); len(asks) != 1 {
		t.Errorf("asks %v", lines(asks))
	}
}

func TestAToolThatChangedAfterTheYesIsAskedAboutAfresh(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	w.drive(t)
	w.answer(t, run.Approved)
	w.tools.digest = map[string]string{"write": "sha256:other"}
	if outcome := w.drive(t); outcome != agent.Parked || len(w.tools.ran()) != 0 {
		t.Fatalf("outcome %v, ran %v", outcome, w.tools.ran())
	}
	if asks := only(w.events(t), run.AskUser); len(asks) != 4 {
		t.Errorf("asks %v", lines(asks))
	}
	if newest := w.approvals(t)[3]; newest.ToolDigest != "sha256:other" || newest.Kind != run.Permission {
		t.Errorf("approval %+v", newest)
	}
	w.answer(t, run.Approved)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 3 {
		t.Errorf("outcome %v, ran %v", outcome, w.tools.ran())
	}
}

func TestAnApprovalThatWasTakenBackAsStaleIsAskedForAfresh(t *testing.T) {
	w := newWorld(t, once(), askFirst)
	w.drive(t)
	w.settle(t, run.Resolution{Status: run.ApprovalCancelled, Reason: "approval_stale"})
	w.claim(t)
	if outcome := w.drive(t); outcome != agent.Parked || len(w.approvals(t)) != 2 {
		t.Fatalf("outcome %v, %d approvals", outcome, len(w.approvals(t)))
	}
	w.answer(t, run.Approved)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 1 {
		t.Errorf("outcome %v, ran %v", outcome, w.tools.ran())
	}
}

func TestAStaleApprovalThatPolicyDeniesTodayIsBlocked(t *testing.T) {
	w := newWorld(t, once(), askFirst)
	w.drive(t)
	w.settle(t, run.Resolution{Status: run.ApprovalCancelled, Reason: "approval_stale"})
	w.claim(t)
	w.employ(t, setting{rules: map[string]any{"write": "deny"}})
	w.drive(t)
	result := only(w.events(t), run.ToolResult)[0]
	if !strings.HasPrefix(result.Content, "[SAFETY_BLOCKED]") || len(w.tools.ran()) != 0 {
		t.Errorf("got %q, ran %v", result.Content, w.tools.ran())
	}
}

func TestAToolThatChangesJustBeforeItsTurnIsAskedAboutAfresh(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst, func(s *setting) {
		s.tools.answers["look"] = func(context.Context, sdk.Call) (sdk.Result, error) {
			s.tools.digest = map[string]string{"write": "sha256:other"}
			return sdk.Result{Content: "looked"}, nil
		}
	})
	w.drive(t)
	w.answer(t, run.Approved)
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	if diff := cmp.Diff([]string{"c1"}, w.tools.ran()); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	for range 2 {
		w.answer(t, run.Approved)
		w.drive(t)
	}
	if diff := cmp.Diff([]string{"c1", "c2", "c3"}, w.tools.ran()); diff != "" || w.run(t).Status != run.Completed {
		t.Errorf("status %s, ran (-want +got):\n%s", w.run(t).Status, diff)
	}
}

func TestARetryThatPolicyRefusedAtTheDeskIsNotRun(t *testing.T) {
	w := lost(t)
	w.settle(t, run.Resolution{Status: run.ApprovalCancelled, Reason: "policy_denied"})
	w.claim(t)
	if outcome := w.drive(t); outcome != agent.Finished || w.run(t).Status != run.Completed {
		t.Fatalf("outcome %v", outcome)
	}
	result := only(w.events(t), run.ToolResult)[0]
	if !strings.HasPrefix(result.Content, "[SAFETY_BLOCKED]") || metadata(t, result)["outcome_unknown"] != true {
		t.Errorf("got %q, metadata %s", result.Content, result.Metadata)
	}
	if got := w.tools.ran(); len(got) != 1 {
		t.Errorf("ran %v", got)
	}
}

func TestARetryWhoseRecordWasTakenBackAsStaleIsAskedAboutAgain(t *testing.T) {
	w := lost(t)
	w.settle(t, run.Resolution{Status: run.ApprovalCancelled, Reason: "approval_stale"})
	w.claim(t)
	if outcome := w.drive(t); outcome != agent.Parked || w.approvals(t)[1].Kind != run.UnknownOutcome {
		t.Fatalf("outcome %v, approvals %+v", outcome, w.approvals(t))
	}
}

func TestACancelledRunSaysOfALostCallThatNobodyKnows(t *testing.T) {
	w := lost(t)
	r := w.run(t)
	ending, err := w.agent.Ending(t.Context(), r, agent.Ending{Status: run.Cancelled})
	if err != nil {
		t.Fatal(err)
	}
	result := only(ending.Events, run.ToolResult)[0]
	want := "[ERROR] Run cancelled before the tool finished, and nobody knows whether it took effect"
	if result.Content != want || metadata(t, result)["outcome_unknown"] != true || result.Ref != r.Ref {
		t.Errorf("got %q of %q, metadata %s", result.Content, result.Ref, result.Metadata)
	}
}

func TestTheEndingOfARunThatIsOverIsEmpty(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")})
	w.drive(t)
	ending, err := w.agent.Ending(t.Context(), w.run(t), agent.Ending{Status: run.Cancelled})
	if err != nil || ending.Finish != nil || len(ending.Events) != 0 {
		t.Errorf("got %+v, %v", ending, err)
	}
}

// twice is a run of two steps with three calls.
func twice() []model.Turn {
	return []model.Turn{
		model.Ask(wish("c1", "write", `{"n":1}`), wish("c2", "look", `{}`)),
		model.Ask(wish("c3", "write", `{"n":2}`)), model.Say("Done."),
	}
}

// cutAt drives a run of twice, ends the process at one of its commits, and takes the run again.
func cutAt(t *testing.T, cut int, changes ...func(*setting)) *world {
	t.Helper()
	w := newWorld(t, twice(), changes...)
	done := 0
	w.failing = func(ledger.Batch) error {
		if done++; done == cut+1 {
			return errKilled
		}
		return nil
	}
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, errKilled) {
		t.Fatalf("cut at %d: %v", cut, err)
	}
	w.claim(t)
	w.model = model.NewScripted(twice()[len(only(w.events(t), run.Think)):]) // a call in flight is made again
	return w
}

func TestARunOfHarmlessCallsComesToTheSameEndWhereverItWasCut(t *testing.T) {
	harmless := func(s *setting) { s.tools.safe = map[string]bool{"write": true, "look": true} }
	whole := newWorld(t, twice(), harmless)
	batches := 0
	whole.committing = func(ledger.Batch) { batches++ }
	whole.drive(t)
	for cut := range batches {
		w := cutAt(t, cut, harmless)
		s := setting{tools: w.tools}
		harmless(&s)
		w.employ(t, s)
		if outcome := w.drive(t); outcome != agent.Finished {
			t.Errorf("cut at %d: outcome %v", cut, outcome)
		}
		if diff := cmp.Diff(lines(whole.events(t)), lines(w.events(t))); diff != "" {
			t.Errorf("cut at %d: events (-want +got):\n%s", cut, diff)
		}
	}
	if batches < 6 {
		t.Errorf("%d batches", batches)
	}
}

func TestNoCallRunsTwiceUnaskedWhereverItsRunWasCut(t *testing.T) {
	asked := 0
	for cut := range 7 {
		w := cutAt(t, cut)
		w.employ(t, setting{tools: w.tools})
		for w.drive(t) == agent.Parked {
			asked++
			w.choose(t, run.TreatAsDone)
		}
		if diff := cmp.Diff([]string{"c1", "c2", "c3"}, w.tools.ran()); diff != "" || w.run(t).Status != run.Completed {
			t.Errorf("cut at %d: status %s, ran (-want +got):\n%s", cut, w.run(t).Status, diff)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, not once about each result that was lost", asked)
	}
}

func TestAnApprovedCallOutlastsAStoreThatTakesNoDecision(t *testing.T) {
	w := newWorld(t, once(), askFirst)
	w.drive(t)
	w.answer(t, run.Approved)
	w.unrecorded = &run.Error{Code: run.CodeStore, Op: "append to run", Sentence: "The store is away."}
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !run.IsCode(err, run.CodeStore) || len(w.tools.ran()) != 0 {
		t.Fatalf("drive: %v, ran %v", err, w.tools.ran())
	}
	w.claim(t)
	if outcome := w.drive(t); outcome != agent.Finished || len(w.tools.ran()) != 1 {
		t.Errorf("after it was back: outcome %v, ran %v", outcome, w.tools.ran())
	}
}
