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

// errStopped stands for a cancel, the end of the service, or a run that took too long.
var errStopped = errors.New("stopped")

// stoppedUnder drives a run of one step with two calls that is stopped under the first of them, which comes back as
// answer says. The drive ends with the reason of the stop.
func stoppedUnder(t *testing.T, reason error, answer func() (sdk.Result, error), changes ...func(*setting)) *world {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	turns := []model.Turn{model.Ask(wish("c1", "write", `{"n":1}`), wish("c2", "look", `{}`)), model.Say("Done.")}
	w := newWorld(t, turns, append(changes, func(s *setting) {
		s.tools.answers["write"] = func(context.Context, sdk.Call) (sdk.Result, error) {
			stop(reason)
			return answer()
		}
	})...)
	if _, err := w.agent.Drive(ctx, w.run(t)); !errors.Is(err, reason) {
		t.Fatalf("drive: %v", err)
	}
	return w
}

func done() (sdk.Result, error) { return sdk.Result{Content: "It is done."}, nil }

// booked are the stages of a call in the books.
func (w *world) booked(t *testing.T, callID string) (stages []run.AuditStage) {
	t.Helper()
	records, err := w.Audits(t.Context(), nil, -1, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if record.CallID == callID {
			stages = append(stages, record.Stage)
		}
	}
	return stages
}

func TestAResultThatCameAsItsRunWasStoppedIsCommittedOnce(t *testing.T) {
	w := stoppedUnder(t, errStopped, done)
	want := []string{"tool_result write c1 | It is done."}
	if diff := cmp.Diff(want, lines(only(w.events(t), run.ToolResult))); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]run.AuditStage{run.Decided, run.Ended}, w.booked(t, "c1")); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
	if stages := w.booked(t, "c2"); len(stages) > 0 || len(w.tools.ran()) != 1 {
		t.Errorf("after the stop: books of the next call %v, ran %v", stages, w.tools.ran())
	}
}

func TestACallThatCameBackBeforeAStopIsNotAskedAboutAfterIt(t *testing.T) {
	w := stoppedUnder(t, errStopped, done)
	w.claim(t)
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Errorf("outcome %v", outcome)
	}
	if diff := cmp.Diff([]string{"c1", "c2"}, w.tools.ran()); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}

func TestTheLogOfACancelledRunHasTheResultBeforeItsEnd(t *testing.T) {
	w := stoppedUnder(t, errStopped, done)
	if err := w.agent.Conclude(t.Context(), w.run(t), agent.Ending{Status: run.Cancelled}); err != nil {
		t.Fatal(err)
	}
	events := w.events(t)
	want := []string{
		"tool_result write c1 | It is done.",
		"tool_result look c2 | [ERROR] Run cancelled before the tool finished", "error   | Run cancelled",
	}
	if diff := cmp.Diff(want, lines(events[len(events)-3:])); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestACallThatWasCutOffByAStopHasNoResult(t *testing.T) {
	for name, answer := range map[string]func() (sdk.Result, error){
		"its source failed": func() (sdk.Result, error) { return sdk.Result{}, errors.New("cut off") },
		"it says it failed": func() (sdk.Result, error) { return sdk.Result{Content: "cut off", IsError: true}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := stoppedUnder(t, errStopped, answer)
			if results := only(w.events(t), run.ToolResult); len(results) > 0 {
				t.Errorf("results %v", lines(results))
			}
			w.claim(t)
			if outcome := w.drive(t); outcome != agent.Parked || w.approvals(t)[0].Kind != run.UnknownOutcome {
				t.Errorf("outcome %v, approvals %+v", outcome, w.approvals(t))
			}
		})
	}
}

func TestAResultIsKeptThroughAStopWhileTheStoreIsAway(t *testing.T) {
	failures := 2
	w := stoppedUnder(t, errStopped, done, func(s *setting) {
		s.failing = func(batch ledger.Batch) error {
			if len(only(batch.Events, run.ToolResult)) > 0 && failures > 0 {
				failures--
				return &run.Error{Code: run.CodeStore, Op: "append to run", Sentence: "The store is away."}
			}
			return nil
		}
	})
	if results := only(w.events(t), run.ToolResult); len(results) != 1 || failures != 0 {
		t.Errorf("results %v, %d failures left", lines(results), failures)
	}
}

func TestAResultOfARunThatIsAnothersStandsInTheBooksAlone(t *testing.T) {
	w := stoppedUnder(t, ledger.ErrFenced, done)
	if results := only(w.events(t), run.ToolResult); len(results) > 0 {
		t.Errorf("results %v", lines(results))
	}
	if diff := cmp.Diff([]run.AuditStage{run.Decided, run.Ended}, w.booked(t, "c1")); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}

func TestAResultOfARunThatIsOverStandsInTheBooksAlone(t *testing.T) {
	var w *world
	w = newWorld(t, once(), func(s *setting) {
		s.tools.answers["write"] = func(context.Context, sdk.Call) (sdk.Result, error) {
			if err := w.agent.Conclude(t.Context(), w.run(t), agent.Ending{Status: run.Cancelled}); err != nil {
				t.Error(err)
			}
			return done()
		}
	})
	if _, err := w.agent.Drive(t.Context(), w.run(t)); !errors.Is(err, ledger.ErrFenced) {
		t.Fatalf("drive: %v", err)
	}
	if events := w.events(t); events[len(events)-1].Kind != run.Errored {
		t.Errorf("events %v", lines(events))
	}
	if diff := cmp.Diff([]run.AuditStage{run.Decided, run.Ended}, w.booked(t, "c1")); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}
