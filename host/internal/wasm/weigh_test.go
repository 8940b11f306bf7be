package wasm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func TestWeighMeasuresSections(t *testing.T) {
	module := wat(t, "abi/policy-allows")
	got, err := Weigh(module)
	if err != nil {
		t.Fatal(err)
	}
	want := Weight{FileBytes: len(module), CodeBytes: 22, DataBytes: 24, Functions: 3, InitialMemory: 65536}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoModuleHasNoWeight(t *testing.T) {
	if _, err := Weigh([]byte("text")); err == nil {
		t.Error("it has one")
	}
}

func TestPlanLeavesNothingToADefault(t *testing.T) {
	got, err := PlanFor(wat(t, "abi/policy-allows"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Metered <= len(wat(t, "abi/policy-allows")) {
		t.Errorf("metered it has %d bytes", got.Metered)
	}
	got.Metered = 0
	want := Plan{Dialect: "fastreact", Mode: ModeSnapshot, Limits: Defaults(sdk.KindPolicy)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
