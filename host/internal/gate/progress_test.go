package gate

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestWordsOfProgressDoNotLeaveWhereResultsAreFiltered(t *testing.T) {
	half := 0.5
	for name, test := range map[string]struct {
		call    run.Call
		trusted bool
		want    string
	}{
		"hard scope":                 {call: scopedCall(`{}`, sdk.Hard)},
		"hard scope, trusted text":   {call: scopedCall(`{}`, sdk.Hard), trusted: true, want: "beta says"},
		"soft scope":                 {call: scopedCall(`{}`, sdk.Soft), want: "beta says"},
		"no scope":                   {call: callOf("pska_pska_search", `{}`), want: "beta says"},
		"a tool that takes no scope": {call: callOf("docs_find", `{}`), want: "beta says"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.source.tools[3].TrustedText = test.trusted
			w.source.result = sdk.Result{Content: `{"results":[]}`}
			w.source.progress = sdk.Progress{Text: "beta says", Done: &half}
			var heard []sdk.Progress
			ctx := sdk.WithProgress(context.Background(), func(p sdk.Progress) { heard = append(heard, p) })
			g := w.gate()
			g.Do(ctx, g.Check(ctx, test.call), nil)
			if diff := cmp.Diff([]sdk.Progress{{Text: test.want, Done: &half}}, heard); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}
