package ledgertest

import (
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func pruneFacts() []fact {
	return []fact{
		{"PruneRemovesOldFinishedRunsWithAllTheyHave", pruneRemovesOldRuns},
		{"PruneSparesWhatIsNotFinished", pruneSparesUnfinished},
		{"PruneSparesWhatFinishedSince", pruneSparesRecent},
		{"PruneRemovesTheOldestUpToItsLimit", pruneIsBounded},
		{"PrunedIDMayBeChosenAgain", prunedIDIsFree},
	}
}

// prune removes what finished before a time that far ahead.
func (w *world) prune(ahead time.Duration, limit int) int {
	w.Helper()
	w.clock.pass(ahead + time.Microsecond)
	pruned, err := w.Prune(w.Context(), ledger.Retention{Runs: time.Microsecond}, limit)
	w.must(err)
	return pruned.Runs
}

func pruneRemovesOldRuns(w *world) {
	r := w.driven("r")
	a := w.approval(r, 0)
	w.append(r, ledger.Batch{
		Events: []run.Event{think("x")}, Approvals: []run.Approval{a}, Audits: []run.Audit{{Stage: run.Decided}},
		Finish: &ledger.Finish{Status: run.Completed},
	})
	w.same("removed", 1, w.prune(time.Second, 10))
	_, err := w.Run(w.Context(), r.Ref)
	w.refused(err, ledger.ErrUnknown)
	_, err = w.Approval(w.Context(), a.ID)
	w.refused(err, ledger.ErrUnknown)
	w.same("events", 0, len(w.events(r.Ref)))
	w.same("audits", 0, len(w.audits(nil, 0, 10)))
	s, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	w.same("events counted", 0, s.Events)
}

func pruneSparesUnfinished(w *world) {
	w.queued("queued")
	w.driven("driven")
	w.parked("parked", 1)
	w.same("removed", 0, w.prune(time.Hour, 10))
}

func pruneSparesRecent(w *world) {
	w.finish(w.driven("r"), run.Cancelled)
	w.same("removed", 0, w.prune(0, 10))
	w.same("removed, a microsecond later", 1, w.prune(time.Microsecond, 10))
}

func pruneIsBounded(w *world) {
	for i := range 40 {
		w.finish(w.driven(fmt.Sprintf("r%d", i)), run.Failed)
	}
	w.same("removed by none", 0, w.prune(time.Hour, 0))
	w.same("removed", 35, w.prune(time.Hour, 35))
	page, err := w.Runs(w.Context(), run.Filter{Limit: 10})
	w.must(err)
	w.same("left", []string{"r39", "r38", "r37", "r36", "r35"}, ids(page.Items))
	w.same("removed at last", 5, w.prune(time.Hour, 35))
}

func prunedIDIsFree(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{Events: []run.Event{think("x")}, Finish: &ledger.Finish{Status: run.Completed}})
	w.prune(time.Second, 1)
	w.driven("r")
	w.same("events", 0, w.gapless(r.Ref))
}
