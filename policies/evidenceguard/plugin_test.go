package evidenceguard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/policies/evidenceguard"
	"github.com/fastreact/fastreact/policies/evidenceguard/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
	"github.com/fastreact/fastreact/sdk/report"
)

func TestNativeGuardKeepsTheContract(t *testing.T) {
	contract.Suite().Run(t, func(*testing.T, string) plugintest.Driver {
		return func(op sdk.Op, input []byte) ([]byte, error) {
			return guest.Dispatch(evidenceguard.Plugin{}, op, input)
		}
	})
}

func TestALongReasonShowsTheBeginningOfWhatIsMissing(t *testing.T) {
	draft := report.Report{Summary: "S", Findings: []report.Finding{{Statement: `"` + strings.Repeat("é", 500) + `"`, Severity: report.Info, EvidenceIDs: []string{"m-1"}}}}
	store := report.Item{ID: "m-1", Source: "metrics", Title: "T", ObservedAt: "2026-11-30T10:15:00Z"}
	got, err := evidenceguard.Plugin{}.Review(sdk.ReviewRequest{Draft: draft.Append(nil, nil), Evidence: append(store.Append([]byte("[")), ']')})
	if err != nil || got.Verdict != sdk.Repair || len(got.Reasons) != 1 || len(got.Reasons[0]) > 300 {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzNoDraftWithAnInventedNumberIsReleased plants a number that the evidence does not hold, somewhere in a statement.
func FuzzNoDraftWithAnInventedNumberIsReleased(f *testing.F) {
	f.Add("The latency is ", " s", "2.4 s")
	f.Add("\"", "'", "10:15:00")
	f.Fuzz(func(t *testing.T, before, after, excerpt string) {
		const invented = "8253971"
		if strings.Contains(before+after+excerpt, "8253") {
			return
		}
		store := report.Item{ID: "m-1", Source: "metrics", Title: "T", ObservedAt: "2026-11-30T10:15:00Z", Excerpt: excerpt}
		draft := report.Report{Summary: "S", Findings: []report.Finding{{Statement: before + " " + invented + " " + after, Severity: report.Info, EvidenceIDs: []string{"m-1"}}}}
		request := sdk.ReviewRequest{Draft: draft.Append(nil, nil), Evidence: append(store.Append([]byte("[")), ']')}
		got, err := evidenceguard.Plugin{}.Review(request)
		if err != nil || got.Verdict == sdk.Release {
			t.Fatalf("%s: %+v, %v", request.Draft, got, err)
		}
		again, err := evidenceguard.Plugin{}.Review(request)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

func FuzzAnyDraftGetsAVerdict(f *testing.F) {
	f.Add(`{"text":"x"}`, `[]`)
	f.Add(`{"summary":"S","findings":[{"statement":"F","severity":"info","evidence_ids":["m-1"]}],"likely_cause":"","recommended_actions":[]}`, `[{"evidence_id":"m-1","source":"s","title":"T","observed_at":"2026-11-30T10:15:00Z"}]`)
	f.Fuzz(func(t *testing.T, draft, evidence string) {
		got, err := evidenceguard.Plugin{}.Review(sdk.ReviewRequest{Draft: json.RawMessage(draft), Evidence: json.RawMessage(evidence)})
		if err != nil || got.Verdict == "" || (got.Verdict == sdk.Release) != (len(got.Reasons) == 0) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}
