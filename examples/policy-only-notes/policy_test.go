package main

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

func TestOnlyNotesAreWritten(t *testing.T) {
	for path, want := range map[string]sdk.Action{
		"greeting.txt": sdk.Allow, "plans/2026.md": sdk.Allow,
		"run.sh": sdk.Deny, ".profile": sdk.Deny, "plans/.hidden.md": sdk.Deny, "notes": sdk.Deny, "": sdk.Deny,
	} {
		args, _ := json.Marshal(map[string]string{"path": path})
		input, _ := json.Marshal(sdk.Question{Tool: "write_file", Args: args})
		answer, err := guest.Dispatch(policy{}, sdk.OpEvaluate, input) // as the host asks the module
		if err != nil {
			t.Fatal(err)
		}
		var got sdk.Opinion
		if err := json.Unmarshal(answer, &got); err != nil || got.Action != want {
			t.Errorf("%q: %s, want %s (%v)", path, answer, want, err)
		}
	}
}
