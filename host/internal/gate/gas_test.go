package gate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestTheBooksSayWhatEachPluginOfACallUsed(t *testing.T) {
	w := newWorld(t)
	w.judges = []*fakeJudge{{name: "thorough", wants: []string{"*"}, gas: 700, opinion: sdk.Opinion{Action: sdk.Allow}}}
	w.source.result = sdk.Result{Content: `{"results":[]}`}
	w.do(scopedCall(`{"query":"q"}`, sdk.Hard))
	var decision run.Decision
	if err := json.Unmarshal(w.recorder.records[0].Decision, &decision); err != nil {
		t.Fatal(err)
	}
	want := []run.PluginUse{
		{PluginDigest: run.PluginDigest{Name: "pska-scope", Digest: "sha256:pska-scope"}, Gas: 5},
		{PluginDigest: run.PluginDigest{Name: "thorough", Digest: "sha256:thorough"}, Gas: 700},
	}
	if diff := cmp.Diff(want, decision.Plugins); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if got := w.recorder.records[1].Gas; got != 43 {
		t.Errorf("the outcome has %d gas, want the tool's 40 and the filter's 3", got)
	}
}
