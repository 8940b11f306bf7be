package gate

import (
	"context"
	"slices"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestACallBeyondItsBudgetIsDenied(t *testing.T) {
	w := newWorld(t)
	call := callOf("docs_find", `{}`)
	call.ToolPolicy.Budget = map[string]int{"docs_find": 1}
	if outcome := w.do(call); outcome.Denied != "" {
		t.Fatalf("the first call: %+v", outcome)
	}
	call.Spent = 1
	outcome := w.do(call)
	if want := "[TOOL_POLICY_DENIED] tool 'docs_find' budget of 1 call is used up"; outcome.Content != want ||
		outcome.Denied != run.DeniedBudget {
		t.Errorf("%q %q", outcome.Content, outcome.Denied)
	}
	if len(w.source.sent) != 1 {
		t.Errorf("the tool ran %d times", len(w.source.sent))
	}
}

func TestWhatARunMayNeverSeeIsNeitherShownNorRun(t *testing.T) {
	for name, bound := range map[string]run.ToolPolicy{
		"hidden by its name":      {Hidden: []string{"docs_find"}},
		"hidden by its raw name":  {Hidden: []string{"find"}},
		"hidden although allowed": {Hidden: []string{"find"}, Mode: run.Allowlist, Allowed: []string{"docs_find"}},
		"a budget of nothing":     {Budget: map[string]int{"docs_find": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			seen := w.gate().Visible(context.Background(), bound)
			if slices.ContainsFunc(seen, func(tool run.Tool) bool { return tool.Name == "docs_find" }) {
				t.Error("it is shown")
			}
			call := callOf("docs_find", `{}`)
			call.ToolPolicy = bound
			if outcome := w.do(call); outcome.Denied == "" || len(w.source.sent) != 0 {
				t.Errorf("%+v", outcome)
			}
		})
	}
}
