package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func (w *world) conclude(t *testing.T, ending agent.Ending) {
	t.Helper()
	if err := w.agent.Conclude(t.Context(), w.run(t), ending); err != nil {
		t.Fatal(err)
	}
}

func TestACancelInAToolAnswersEveryOpenCall(t *testing.T) {
	left := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`), wish("c2", "write", `{}`))}, func(s *setting) {
		s.tools.answers["look"] = func(ctx context.Context, _ sdk.Call) (sdk.Result, error) {
			cancel(left)
			<-ctx.Done()
			return sdk.Result{}, context.Cause(ctx)
		}
	})
	if _, err := w.agent.Drive(ctx, w.run(t)); !errors.Is(err, left) {
		t.Fatalf("got %v", err)
	}
	if results := only(w.events(t), run.ToolResult); len(results) != 0 {
		t.Fatalf("written after the end: %v", lines(results))
	}
	w.conclude(t, agent.Ending{Status: run.Cancelled, Code: run.CodeCancelled, Reason: "client_disconnected"})
	events := w.events(t)
	want := []string{
		"tool_result look c1 | [ERROR] Run cancelled before the tool finished, and nobody knows whether it took effect",
		"tool_result write c2 | [ERROR] Run cancelled before the tool finished",
		"error   | Run cancelled",
	}
	if diff := cmp.Diff(want, lines(events[len(events)-3:])); diff != "" {
		t.Errorf("end (-want +got):\n%s", diff)
	}
	ended := map[string]any{"error_type": "CancelledError", "code": "cancelled", "reason": "client_disconnected"}
	if diff := cmp.Diff(ended, metadata(t, events[len(events)-1])); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if r := w.run(t); r.Status != run.Cancelled {
		t.Errorf("status %s", r.Status)
	}
}

func TestACancelSettlesWhatIsPending(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	w.drive(t)
	r := w.run(t)
	ending, err := w.agent.Ending(t.Context(), r, agent.Ending{Status: run.Cancelled, Reason: "user"})
	if err != nil {
		t.Fatal(err)
	}
	wish := ledger.Cancellation{Reason: "user", Close: &ledger.Closing{NextSeq: r.NextSeq, Batch: ending}}
	if r, err = w.Cancel(t.Context(), w.ref, wish); err != nil || r.Status != run.Cancelled {
		t.Fatalf("status %s, %v", r.Status, err)
	}
	for _, approval := range w.approvals(t) {
		if approval.Status != run.ApprovalCancelled {
			t.Errorf("approval is %s", approval.Status)
		}
	}
	results := only(w.events(t), run.ToolResult)
	want := []string{
		"tool_result look c1 | [ERROR] Run cancelled before the tool finished",
		"tool_result write c2 | [SAFETY_DENIED] Run cancelled before the call was approved",
		"tool_result write c3 | [SAFETY_DENIED] Run cancelled before the call was approved",
	}
	if diff := cmp.Diff(want, lines(results)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	fields := metadata(t, results[1])
	if fields["denial_code"] != "cancelled" || fields["policy_scope"] != "tool:write" || fields["approved"] != false {
		t.Errorf("metadata %v", fields)
	}
}

func TestARunThatNeverBeganHasAStartAndAnEnd(t *testing.T) {
	w := newWorld(t, nil)
	w.conclude(t, agent.Ending{
		Status: run.Failed, Code: run.CodeInterrupted, Reason: "interrupted", Text: "The service stopped.",
	})
	want := []string{"session_start   | What is alpha?", "error   | The service stopped."}
	if diff := cmp.Diff(want, lines(w.events(t))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	r := w.run(t)
	if r.Status != run.Failed || r.Outcome.ErrorCode != "interrupted" || r.Outcome.Error != "The service stopped." {
		t.Errorf("status %s, outcome %+v", r.Status, r.Outcome)
	}
}

func TestARunThatIsOverStaysAsItIs(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")})
	r := w.run(t)
	w.drive(t)
	before := lines(w.events(t))
	if err := w.agent.Conclude(t.Context(), r, agent.Ending{Status: run.Cancelled}); err != nil {
		t.Fatal(err)
	}
	if outcome, err := w.agent.Drive(t.Context(), r); outcome != agent.Finished || err != nil {
		t.Errorf("drive: %v, %v", outcome, err)
	}
	if diff := cmp.Diff(before, lines(w.events(t))); diff != "" {
		t.Errorf("events (-before +after):\n%s", diff)
	}
}

func TestACancelInTheModelWritesNothing(t *testing.T) {
	left := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	turn := model.Say("never")
	turn.Wait = func(ctx context.Context) error {
		cancel(left)
		return context.Cause(ctx)
	}
	w := newWorld(t, []model.Turn{turn})
	if _, err := w.agent.Drive(ctx, w.run(t)); !errors.Is(err, left) {
		t.Errorf("got %v", err)
	}
	if got := len(w.events(t)); got != 1 {
		t.Errorf("%d events", got)
	}
}

func TestACommitUnderWayIsNotLostToACancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWorld(t, dangerous(), askFirst)
	w.committing = func(batch ledger.Batch) {
		if batch.Park {
			cancel(errors.New("cancelled"))
		}
	}
	outcome, err := w.agent.Drive(ctx, w.run(t))
	if outcome != agent.Parked || err != nil || w.run(t).Phase != run.AwaitingApproval {
		t.Errorf("outcome %v, %v, phase %q", outcome, err, w.run(t).Phase)
	}
}

func TestOnlyTheCallsThatAreStillOpenAreAnsweredAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`), wish("c2", "write", `{}`))})
	w.committing = func(batch ledger.Batch) {
		if len(only(batch.Events, run.ToolResult)) > 0 {
			cancel(errors.New("cancelled"))
		}
	}
	if _, err := w.agent.Drive(ctx, w.run(t)); err == nil {
		t.Fatal("drove on after the end")
	}
	w.committing = nil
	w.conclude(t, agent.Ending{Status: run.Failed, Code: run.CodeTimeout, Text: "Too long.", Reason: "timeout"})
	want := []string{
		"tool_result look c1 | look says {}", "tool_result write c2 | [ERROR] Run ended before the tool finished",
	}
	if diff := cmp.Diff(want, lines(only(w.events(t), run.ToolResult))); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
