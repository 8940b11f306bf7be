package main

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

func TestNumbersComeFromTheEvidence(t *testing.T) {
	for draft, want := range map[string]sdk.GuardVerdict{
		`"12 berths"`: sdk.Release, `"berths"`: sdk.Release, `"in 2026"`: sdk.Release, `"13 berths"`: sdk.Repair, `"120 berths"`: sdk.Repair,
	} {
		got, err := guard{}.Review(sdk.ReviewRequest{
			Draft: json.RawMessage(draft), Evidence: json.RawMessage(`["12 berths"]`), Question: "How many in 2026?",
		})
		if err != nil || got.Verdict != want {
			t.Errorf("%s: %+v (%v), want %s", draft, got, err, want)
		}
	}
}
