package run_test

import (
	"fmt"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// TestLongScopesAreComparedInOneSweep would take minutes otherwise: a request may hold as many ids.
func TestLongScopesAreComparedInOneSweep(t *testing.T) {
	ids := make([]string, 500_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("source-%d", i)
	}
	scope := sdk.Scope{Mode: sdk.Hard, SourceItemIDs: ids}
	if !(run.Turn{Scope: &scope}).Within(&scope) {
		t.Error("a scope does not lie within itself")
	}
	narrower := sdk.Scope{Mode: sdk.Hard, SourceItemIDs: ids[1:]}
	if (run.Turn{Scope: &scope}).Within(&narrower) {
		t.Error("a scope lies within a narrower one")
	}
}
