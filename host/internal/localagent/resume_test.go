package localagent_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
)

// untilPause are the lines of a model that prepares a research and ends after it.
func untilPause() []any {
	return []any{call("research.prepare", `{"selection_ids":["x"]}`), final("Done.")}
}

func TestATurnThatNeedsAPersonAsksTheModelNothing(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		want := localagent.Turn{
			ID: turn.ID, Objective: "Find out.", State: localagent.AuthorizationRequired, ModelCalls: 1, ToolCalls: 1,
			Pending: &localagent.Pending{ToolID: "research.prepare", ResultID: "result-1"},
		}
		if diff := cmp.Diff(want, turn); diff != "" {
			t.Error(diff)
		}
		if w.model.count() != 1 {
			t.Errorf("the model was asked %d times", w.model.count())
		}
		if got := w.kinds(turn.ID); got != "queued running tool_requested tool_completed authorization_required" {
			t.Error(got)
		}
	})
}

func TestAWaitingTurnHoldsNoWorker(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		w.start(t, "Find out.")
		if turn := w.start(t, "Something else."); turn.State != localagent.Completed {
			t.Errorf("%+v", turn)
		}
	})
}

func TestAResumeBeforeTheDecisionIsRefusedAndTheTurnWaitsOn(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.released["north/another plan"] = true
		w.people.released["south/plan-1"] = true
		_, err := w.Resume(t.Context(), turn.ID)
		wantCode(t, err, localagent.CodeNotGranted)
		if diff := cmp.Diff(turn, w.settled(t, turn.ID)); diff != "" || w.model.count() != 1 {
			t.Error(w.model.count(), diff)
		}
		if diff := cmp.Diff([]string{"north/plan-1"}, w.people.asked); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAResumeWhoseDecisionCannotBeReadLeavesTheTurnWaiting(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.trouble = errors.New("disk")
		if _, err := w.Resume(t.Context(), turn.ID); !errors.Is(err, w.people.trouble) {
			t.Error(err)
		}
		if diff := cmp.Diff(turn, w.settled(t, turn.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAResumedTurnReadsTheResearchBeforeTheModelIsAsked(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.released["north/plan-1"] = true
		resumed, err := w.Resume(t.Context(), turn.ID)
		if err != nil || resumed.State != localagent.Queued || resumed.Pending != nil {
			t.Fatalf("%+v %v", resumed, err)
		}
		turn = w.settled(t, turn.ID)
		if turn.State != localagent.Completed || turn.ModelCalls != 2 || turn.ToolCalls != 2 {
			t.Errorf("%+v", turn)
		}
		if diff := cmp.Diff([]string{"research.prepare", "research.get_state"}, w.gates.called()); diff != "" {
			t.Error(diff)
		}
		told := w.model.last()
		newest := told[len(told)-1]
		if newest.Role != localagent.User || !strings.HasPrefix(newest.Content,
			`{"contract":"labfy.agent_model_tool_result.v1","trust":"UNTRUSTED_DATA","tool_id":"research.get_state","result":{`) {
			t.Error(newest)
		}
		const rest = " resumed running tool_requested tool_completed completed"
		if got := w.kinds(turn.ID); !strings.HasSuffix(got, "authorization_required"+rest) {
			t.Error(got)
		}
	})
}

func TestOnlyAWaitingTurnIsResumed(t *testing.T) {
	inWorld(t, plain, []any{final("Done.")}, func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		_, err := w.Resume(t.Context(), turn.ID)
		wantCode(t, err, localagent.CodeNotWaiting)
		_, err = w.Resume(t.Context(), "00000000-0000-4000-8000-000000000000")
		wantCode(t, err, localagent.CodeUnknown)
	})
}

func TestOfTwoResumesOneCounts(t *testing.T) {
	inWorld(t, plain, untilPause(), func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.released["north/plan-1"] = true
		w.people.hold = make(chan struct{})
		failures := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := w.Resume(t.Context(), turn.ID)
				failures <- err
			}()
		}
		synctest.Wait()
		close(w.people.hold)
		first, second := <-failures, <-failures
		if (first == nil) == (second == nil) {
			t.Errorf("%v, %v", first, second)
		}
		wantCode(t, errors.Join(first, second), localagent.CodeNotWaiting)
		if turn = w.settled(t, turn.ID); turn.State != localagent.Completed || turn.ToolCalls != 2 {
			t.Errorf("%+v", turn)
		}
	})
}

func TestWhatNobodyPreparedIsNeverReleased(t *testing.T) {
	inWorld(t, plain, []any{call("graph.get_node", `{}`)}, func(t *testing.T, w world) {
		w.gates.tools["graph.get_node"] = answers(gateway.AuthorizationRequired, `{}`)
		w.people.released["north/"] = true
		turn := w.start(t, "Find out.")
		_, err := w.Resume(t.Context(), turn.ID)
		wantCode(t, err, localagent.CodeNotGranted)
		if len(w.people.asked) != 0 {
			t.Error(w.people.asked)
		}
	})
}

func TestATurnMayAskAPersonTwice(t *testing.T) {
	inWorld(t, plain, []any{call("research.prepare", `{}`), call("research.prepare", `{"n":2}`), final("Done.")}, func(t *testing.T, w world) {
		turn := w.start(t, "Find out.")
		w.people.released["north/plan-1"] = true
		w.gates.tools["research.prepare"] = answers(gateway.AuthorizationRequired, `{"plan_id":"plan-2"}`)
		if _, err := w.Resume(t.Context(), turn.ID); err != nil {
			t.Fatal(err)
		}
		if turn = w.settled(t, turn.ID); turn.State != localagent.AuthorizationRequired {
			t.Fatalf("%+v", turn)
		}
		_, err := w.Resume(t.Context(), turn.ID)
		wantCode(t, err, localagent.CodeNotGranted)
	})
}
