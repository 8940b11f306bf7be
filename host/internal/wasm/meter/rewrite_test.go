package meter_test

import (
	"errors"
	"testing"
)

func TestEndlessLoopIsEndedByATick(t *testing.T) {
	r, c := newRuntime(t), &clock{budget: 10 * slice}
	c.install(t, r)
	m, err := r.Instantiate(t.Context(), rewrite(t, readFile(t, root(t, "testdata", "hostile", "spin-in-call.wasm")), generous))
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.ExportedFunction("fastreact_call").Call(t.Context(), 2, 0, 0)
	if !errors.Is(err, errSpent) {
		t.Errorf("the call ended with %v", err)
	}
}
