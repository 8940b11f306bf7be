package semanticguard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/policies/semanticguard"
	"github.com/fastreact/fastreact/policies/semanticguard/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestNativeGuardKeepsTheContract(t *testing.T) {
	contract.Suite().Run(t, func(*testing.T, string) plugintest.Driver {
		return func(op sdk.Op, input []byte) ([]byte, error) {
			return guest.Dispatch(semanticguard.Plugin{}, op, input)
		}
	})
}

func TestADraftAboveTheBoundFallsBack(t *testing.T) {
	draft := `{"text":"` + strings.Repeat("a ", 3<<20) + `"}`
	got, err := semanticguard.Plugin{}.Review(sdk.ReviewRequest{Draft: json.RawMessage(draft), Evidence: json.RawMessage(`[]`)})
	if err != nil || got.Verdict != sdk.Fallback {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestALongAnswerIsLookedThrough(t *testing.T) {
	long := strings.Repeat("All is well. ", 80_000)
	for text, want := range map[string]sdk.GuardVerdict{long: sdk.Release, long + "query_logs": sdk.Repair} {
		draft, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		got, err := semanticguard.Plugin{}.Review(sdk.ReviewRequest{Draft: draft, Evidence: json.RawMessage(`[]`)})
		if err != nil || got.Verdict != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// FuzzNoForbiddenWordIsReleased hides a forbidden word among others.
func FuzzNoForbiddenWordIsReleased(f *testing.F) {
	f.Add("The latency ", " is high.", 0)
	f.Add("\"", "'", 3)
	words := []string{"query_metrics", "SELECT * FROM orders", "/etc/passwd", "password=hunter2", "01J9ZQ4T8X5W7V3N2M1K0H6G5F"}
	f.Fuzz(func(t *testing.T, before, after string, which int) {
		word := words[uint(which)%uint(len(words))]
		draft, err := json.Marshal(map[string]string{"text": before + " " + word + " " + after})
		if err != nil {
			t.Fatal(err)
		}
		request := sdk.ReviewRequest{Draft: draft, Evidence: json.RawMessage(`[]`)}
		got, err := semanticguard.Plugin{}.Review(request)
		if err != nil || got.Verdict == sdk.Release {
			t.Fatalf("%s: %+v, %v", draft, got, err)
		}
		again, err := semanticguard.Plugin{}.Review(request)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

func FuzzAnyDraftGetsAVerdict(f *testing.F) {
	f.Add(`{"text":"x"}`, `[]`)
	f.Add(`{"summary":"Some MySQL a_b.","findings":[{"statement":"F","severity":"info","evidence_ids":["m-1"]}],"likely_cause":"","recommended_actions":["select x"]}`, `[{"evidence_id":"m-1","source":"s","title":"T","observed_at":"2026-11-30T10:15:00Z"}]`)
	f.Fuzz(func(t *testing.T, draft, evidence string) {
		got, err := semanticguard.Plugin{}.Review(sdk.ReviewRequest{Draft: json.RawMessage(draft), Evidence: json.RawMessage(evidence)})
		if err != nil || got.Verdict == "" || (got.Verdict == sdk.Release) != (len(got.Reasons) == 0) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}
