package main

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

var selected = sdk.Scope{Mode: sdk.Hard, SourceItemIDs: []string{"s1", "s2"}}

func TestModelCannotWidenItsSources(t *testing.T) {
	for args, want := range map[string]string{
		`{"q":"x"}`:                  `{"q":"x","sources":["s1","s2"]}`,
		`{"Sources":["s9"],"q":"x"}`: `{"q":"x","sources":["s1","s2"]}`,
	} {
		got, err := scoper{}.Inject(sdk.InjectRequest{Args: json.RawMessage(args), Scope: selected})
		if err != nil || string(got.Args) != want {
			t.Errorf("%s: %s (%v), want %s", args, got.Args, err, want)
		}
	}
}

func TestArgumentsThatNameSourcesTwiceAreRefused(t *testing.T) {
	args := json.RawMessage(`{"sources":["s1"],"Sources":["s9"]}`)
	if got, err := (scoper{}).Inject(sdk.InjectRequest{Args: args, Scope: selected}); err == nil {
		t.Errorf("bounded to %s", got.Args)
	}
}

func TestResultsFromOtherSourcesAreTakenOut(t *testing.T) {
	result := json.RawMessage(`[{"source":"s1"},{"source":"s9"},{},"s1"]`)
	got, err := scoper{}.Filter(sdk.FilterRequest{Result: result, Scope: selected})
	if err != nil || string(got.Result) != `[{"source":"s1"}]` || got.Removed != 3 {
		t.Errorf("%s, %d removed, %v", got.Result, got.Removed, err)
	}
}
