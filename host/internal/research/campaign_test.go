package research_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAGrantedActionIsContactedOnceAndItsResultIsShown(t *testing.T) {
	w := newWorld(t)
	desk, plan := w.granted()
	w.wantContacts(0)
	after := must(t)(desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)))
	w.wantContacts(1)
	want := plan.Actions[0]
	want.Contacted, want.ResultStatus = true, research.ResultNew
	want.ResultExcerpt = "The archive knows of two signatures."
	want.ResultDigest = run.Digest([]byte("The archive knows of two signatures."))
	if diff := cmp.Diff(want, after.Actions[0]); diff != "" {
		t.Errorf("action (-want +got):\n%s", diff)
	}
}
