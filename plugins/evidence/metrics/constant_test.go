package metrics

import (
	"testing"
)

func TestQueryThatSelectsNothingIsKnown(t *testing.T) {
	for query, want := range map[string]bool{
		"42": true, "vector(42)": true, "vector( 6*7 )": true, "scalar(vector(42)) + 0x1f": true, `"disk full"`: true, "time() - 5": true, "Inf": true,
		`label_replace(vector(42), "error", "disk full", "", "")`: true, "sum by (job) (vector(42))": true, "vector(1e5) # up": true, "1 == bool 1": true,
		"up": false, `{__name__="up"}`: false, "{}": false, "sum(rate(errors_total[5m])) or vector(0)": false, "vector(scalar(up))": false,
		"sum by (job) (up)": false, "sum(up) by (job)": false, "job:errors:rate5m": false, "42 * up": false, "up offset 5m": false, `ALERTS{alertstate="firing"}`: false,
	} {
		if got := constant(query); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func TestConstantIsNoEvidence(t *testing.T) {
	body := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"error":"disk full"},"value":[1,"42"]}]}}`
	got, note := item(t, says(t, 200, body), map[string]any{"query": `label_replace(vector(42), "error", "disk full", "", "")`})
	if len(got.Facts) != 0 || got.Excerpt != "" || note == "" {
		t.Errorf("%+v, note %q", got, note)
	}
}
