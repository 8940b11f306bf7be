package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

func budgetOf(calls int) func(*setting) {
	return func(s *setting) {
		s.rules = map[string]any{"look": "allow", "write": "allow"}
		s.request.ToolPolicy.Budget = map[string]int{"write": calls}
	}
}

// denied says of each result whether its budget stopped it.
func denied(results []run.Event) []bool {
	var all []bool
	for _, result := range results {
		all = append(all, strings.HasPrefix(result.Content, "[TOOL_POLICY_DENIED] tool 'write' budget"))
	}
	return all
}

func TestABudgetHoldsWithinOneStepAndOverSteps(t *testing.T) {
	w := newWorld(t, []model.Turn{
		model.Ask(wish("c1", "write", `{"n":1}`), wish("c2", "write", `{"n":2}`), wish("c3", "look", `{}`)),
		model.Ask(wish("c4", "write", `{"n":3}`)),
		model.Say("Done."),
	}, budgetOf(1))
	w.drive(t)
	got := denied(only(w.events(t), run.ToolResult))
	if diff := cmp.Diff([]bool{false, true, false, true}, got); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
}

func TestACallThatCouldNotBeReadSpendsNothing(t *testing.T) {
	w := newWorld(t, []model.Turn{
		model.Ask(wish("c1", "write", `{"n":`)), model.Ask(wish("c2", "write", `{"n":1}`)), model.Say("Done."),
	}, budgetOf(1))
	w.drive(t)
	if got := denied(only(w.events(t), run.ToolResult)); got[1] {
		t.Error("the corrected call was denied")
	}
}

func TestABudgetIsCountedOnWhenARunGoesOn(t *testing.T) {
	turns := []model.Turn{
		model.Ask(wish("c1", "write", `{"n":1}`)), model.Ask(wish("c2", "write", `{"n":2}`)), model.Say("Done."),
	}
	w := newWorld(t, turns, budgetOf(1), func(s *setting) { s.rules["write"] = "require_approval" })
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	w.answer(t, run.Approved)
	again := setting{}
	budgetOf(1)(&again)
	again.rules["write"] = "require_approval"
	w.employ(t, again) // another agent, which knows the run from its events only
	if outcome := w.drive(t); outcome != agent.Finished {
		t.Fatalf("outcome %v", outcome)
	}
	if diff := cmp.Diff([]bool{false, true}, denied(only(w.events(t), run.ToolResult))); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
}
