package ledgertest

import (
	"errors"
	"fmt"
	"math"
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
		{"PruneWithoutRulesKeepsEverything", pruneWithoutRules},
		{"PruneKeepsTheNewestRunsOfEachTenant", pruneKeepsNewestOfTenant},
		{"CompactionKeepsTheRunAndItsLastEvent", compactionKeepsTheEnd},
		{"AskingForCompactedEventsNamesTheFirstThatIsThere", compactedEventsAreNamed},
		{"CompactionSparesWhatIsNotFinished", compactionSparesUnfinished},
		{"PruneForgetsOldKeysOfAnswers", pruneForgetsKeys},
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

func pruneWithoutRules(w *world) {
	w.finish(w.driven("r"), run.Completed)
	w.clock.pass(time.Hour)
	pruned, err := w.Prune(w.Context(), ledger.Retention{}, 10)
	w.must(err)
	w.same("pruned", ledger.Pruned{}, pruned)
	w.get(ref("r"))
}

func pruneKeepsNewestOfTenant(w *world) {
	for i := range 40 {
		w.finish(w.driven(fmt.Sprintf("r%d", i)), run.Completed)
	}
	w.finish(w.driven("other", func(r *run.Run) { r.Tenant, r.Request.Identity.TenantKey = "other", "other" }), run.Completed)
	w.driven("driven")
	keep := ledger.Retention{PerTenant: 3}
	pruned, err := w.Prune(w.Context(), keep, 30)
	w.must(err)
	w.same("pruned", ledger.Pruned{Runs: 30}, pruned)
	pruned, err = w.Prune(w.Context(), keep, 30)
	w.must(err)
	w.same("pruned at last", ledger.Pruned{Runs: 7}, pruned)
	page, err := w.Runs(w.Context(), run.Filter{Limit: 10})
	w.must(err)
	w.same("left", []string{"driven", "other", "r39", "r38", "r37"}, ids(page.Items))
}

// compacted returns a run of five events of which the last is left.
func (w *world) compacted() run.Run {
	w.Helper()
	r := w.driven("r")
	w.append(r, ledger.Batch{Events: []run.Event{think("a"), think("b"), think("c"), think("d")}})
	w.append(r, ledger.Batch{
		Events: []run.Event{{Kind: run.SessionEnd, Content: "the end"}}, Finish: &ledger.Finish{Status: run.Completed},
	})
	w.clock.pass(time.Hour)
	pruned, err := w.Prune(w.Context(), ledger.Retention{Events: time.Minute, Runs: 24 * time.Hour}, 10)
	w.must(err)
	w.same("pruned", ledger.Pruned{Compacted: 1}, pruned)
	return r
}

func compactionKeepsTheEnd(w *world) {
	r := w.compacted()
	got := w.get(r.Ref)
	w.same("first, next", []int64{4, 5}, []int64{got.FirstSeq, got.NextSeq})
	events, err := w.Events(w.Context(), r.Ref, 3, 10)
	w.must(err)
	w.same("events left", []string{"the end"}, []string{events[0].Content})
	events, err = w.Events(w.Context(), r.Ref, 4, 10)
	w.must(err)
	w.same("events after the last", 0, len(events))
	events, err = w.Events(w.Context(), r.Ref, math.MaxInt64, 10)
	w.must(err)
	w.same("events beyond all", 0, len(events))
	s, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	w.same("events counted", 1, s.Events)
	pruned, err := w.Prune(w.Context(), ledger.Retention{Events: time.Minute}, 10)
	w.must(err)
	w.same("pruned again", ledger.Pruned{}, pruned)
}

func compactedEventsAreNamed(w *world) {
	r := w.compacted()
	for _, after := range []int64{-1, 0, 2} {
		_, err := w.Events(w.Context(), r.Ref, after, 10)
		var gone *ledger.CompactedError
		if !run.IsCode(err, run.CodeCompacted) || !errors.As(err, &gone) || gone.First != 4 {
			w.Errorf("after %d: %v", after, err)
		}
	}
}

func compactionSparesUnfinished(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{Events: []run.Event{think("a"), think("b")}})
	w.clock.pass(time.Hour)
	pruned, err := w.Prune(w.Context(), ledger.Retention{Events: time.Minute}, 10)
	w.must(err)
	w.same("pruned", ledger.Pruned{}, pruned)
	w.same("events", 2, len(w.events(r.Ref)))
}

func pruneForgetsKeys(w *world) {
	r := w.queued("r")
	key := run.Idempotency{Key: "k", Digest: "sha256:one"}
	_, err := w.Cancel(w.Context(), r.Ref, ledger.Cancellation{Idempotency: key})
	w.must(err)
	other := run.Idempotency{Key: "k", Digest: "sha256:two"}
	_, err = w.Cancel(w.Context(), r.Ref, ledger.Cancellation{Idempotency: other})
	w.refused(err, ledger.ErrKeyed)
	w.clock.pass(time.Hour)
	_, err = w.Prune(w.Context(), ledger.Retention{Runs: time.Minute}, 10)
	w.must(err)
	_, err = w.Cancel(w.Context(), r.Ref, ledger.Cancellation{Idempotency: other})
	w.must(err)
}
