package research_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/research"
)

func TestARestartLosesNothing(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	open := func() *sqlite.Ledger {
		l, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Clock: w.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		w.store = l
		return l
	}
	first := open()
	desk, plan := w.granted()
	asked := launch(plan, plan.Actions[0].ActionID)
	asked.Key = "k"
	before := must(t)(desk.Campaign(t.Context(), space, asked))
	before = must(t)(desk.Grant(t.Context(), space, decides(before, research.Refuse, before.Actions[2].ActionID)))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open()
	t.Cleanup(func() { _ = second.Close() })
	again := w.desk()
	if diff := cmp.Diff(encoded(t, before), encoded(t, must(t)(again.Snapshot(t.Context(), space)))); diff != "" {
		t.Errorf("after the restart (-want +got):\n%s", diff)
	}
	must(t)(again.Campaign(t.Context(), space, asked))
	w.wantContacts(1)
	after := must(t)(again.Campaign(t.Context(), space, launch(plan, plan.Actions[1].ActionID)))
	w.wantContacts(2)
	if got := after.Actions[1].ResultStatus; got != research.ResultNew {
		t.Errorf("second wave %s", got)
	}
}

func TestTheLedgerItselfGoingAwayLeavesAnActionUnknown(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Clock: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.store = l
	desk, plan := w.granted()
	w.provider.answer = func(http.ResponseWriter, *http.Request) { _ = l.Close() }
	if _, err := desk.Campaign(t.Context(), space, launch(plan, plan.Actions[0].ActionID)); err == nil {
		t.Error("no error")
	}
	if w.store, err = sqlite.Open(t.Context(), sqlite.Config{Path: path, Clock: w.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.(*sqlite.Ledger).Close() })
	after := must(t)(w.desk().Snapshot(t.Context(), space))
	if a := after.Actions[0]; a.ResultStatus != research.ResultUnknown || !a.Contacted {
		t.Errorf("action %+v", a)
	}
	w.wantContacts(1)
}
