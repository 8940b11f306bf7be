package agent_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestACallWhoseToolChangedAtItsTurnRunsWherePolicyNeedsNobodyNow(t *testing.T) {
	w := newWorld(t, dangerous(), askFirst)
	strict, _ := policy.Compile(policy.Config{ToolRules: map[string]any{"look": "allow", "write": "require_approval"}})
	loose, _ := policy.Compile(policy.Config{ToolRules: map[string]any{"look": "allow", "write": "allow"}})
	door, err := gate.New(gate.Config{Sources: []gate.Source{w.tools}, Rules: strict, Scoper: pinned{}, Recorder: recorder{log: w.Ledger}})
	if err != nil {
		t.Fatal(err)
	}
	w.agent = agent.New(agent.Config{Model: w.model, Gate: door, Ledger: w, Desk: desk{w.Ledger}})
	w.tools.answers["look"] = func(context.Context, sdk.Call) (sdk.Result, error) {
		w.tools.digest = map[string]string{"write": "sha256:other"}
		door.Enforce(loose)
		return sdk.Result{Content: "looked"}, nil
	}
	w.drive(t)
	w.answer(t, run.Approved)
	if outcome := w.drive(t); outcome != agent.Finished || w.run(t).Status != run.Completed {
		t.Errorf("outcome %v, run %s", outcome, w.run(t).Status)
	}
	if diff := cmp.Diff([]string{"c1", "c2", "c3"}, w.tools.ran()); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}
