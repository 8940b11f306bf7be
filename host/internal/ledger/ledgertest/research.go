package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func researchFacts() []fact {
	return []fact{
		{"ResearchReadsBackWhole", researchReadsBack},
		{"ResearchWithoutATimeGetsTheLedgersTime", researchGetsATime},
		{"ResearchBeginsAtTheNewestPlan", researchBeginsAtAPlan},
		{"ResearchWithoutAPlanIsEmpty", researchNeedsAPlan},
		{"ResearchOfAnotherWorkspaceIsNotSeen", researchStaysInItsWorkspace},
		{"ReopenedLedgerKeepsResearch", researchOutlivesARestart},
		{"AWriterThatMissedAnEntryIsFenced", lateResearchIsFenced},
		{"OfRacingWritersOneAddsResearch", racingResearch},
		{"AKeyIsUsedOnceInAWorkspace", researchKeyIsUsedOnce},
		{"OfRacingEntriesUnderOneKeyOneIsAdded", racingResearchKeys},
		{"AKeyReadsBackAcrossPlans", researchKeyReadsBack},
		{"ResearchUnderNoKeyIsNotFoundByIt", researchWithoutAKey},
		{"ResearchThatSaysNothingIsRefused", unsoundResearch},
		{"PruneSparesResearch", pruneSparesResearch},
	}
}

// entryOf is research of the world's time.
func (w *world) entryOf(workspace string, kind run.ResearchKind, key string) run.ResearchEntry {
	return run.ResearchEntry{
		Workspace: workspace, Kind: kind, At: w.clock.Now(), Key: key, Digest: "sha256:" + key,
		Body: json.RawMessage(`{"n": 1.0, "text": "<b>été</b>"}`),
	}
}

func (w *world) add(after int64, entry run.ResearchEntry) run.ResearchEntry {
	w.Helper()
	added, err := w.AddResearch(w.Context(), after, entry)
	w.must(err)
	return added
}

func (w *world) research(workspace string) []run.ResearchEntry {
	w.Helper()
	entries, err := w.Research(w.Context(), workspace)
	w.must(err)
	return entries
}

func researchReadsBack(w *world) {
	kinds := []run.ResearchKind{
		run.ResearchPlan, run.ResearchGrant, run.ResearchCampaign, run.ResearchResult, run.ResearchRevocation,
	}
	var want []run.ResearchEntry
	after := int64(0)
	for i, kind := range kinds {
		w.clock.pass(time.Second)
		entry := w.entryOf("lab", kind, fmt.Sprintf("key-%d", i))
		added := w.add(after, entry)
		if added.Sequence <= after {
			w.Errorf("sequence %d after %d", added.Sequence, after)
		}
		entry.Sequence, after = added.Sequence, added.Sequence
		w.same("added", entry, added)
		want = append(want, entry)
	}
	w.same("research", want, w.research("lab"))
}

func researchGetsATime(w *world) {
	entry := w.entryOf("lab", run.ResearchPlan, "")
	entry.At = time.Time{}
	w.same("time", w.clock.Now(), w.add(0, entry).At)
}

func researchBeginsAtAPlan(w *world) {
	first := w.add(0, w.entryOf("lab", run.ResearchPlan, "a"))
	grant := w.add(first.Sequence, w.entryOf("lab", run.ResearchGrant, "b"))
	w.same("of the first plan", []run.ResearchEntry{first, grant}, w.research("lab"))
	second := w.add(grant.Sequence, w.entryOf("lab", run.ResearchPlan, "c"))
	w.same("of the second plan", []run.ResearchEntry{second}, w.research("lab"))
	result := w.add(second.Sequence, w.entryOf("lab", run.ResearchResult, ""))
	w.same("and its result", []run.ResearchEntry{second, result}, w.research("lab"))
}

func researchNeedsAPlan(w *world) {
	w.same("of nobody", 0, len(w.research("lab")))
	w.add(0, w.entryOf("lab", run.ResearchGrant, ""))
	w.same("without a plan", 0, len(w.research("lab")))
}

func researchStaysInItsWorkspace(w *world) {
	mine := w.add(0, w.entryOf("lab", run.ResearchPlan, "key"))
	theirs := w.add(0, w.entryOf("Lab", run.ResearchPlan, "key"))
	w.same("mine", []run.ResearchEntry{mine}, w.research("lab"))
	w.same("theirs", []run.ResearchEntry{theirs}, w.research("Lab"))
	w.same("nobody's", 0, len(w.research("")))
	w.add(mine.Sequence, w.entryOf("lab", run.ResearchGrant, "")) // what others wrote since fences nobody
	_, err := w.ResearchKeyed(w.Context(), "third", "key")
	w.refused(err, ledger.ErrUnknown)
	found, err := w.ResearchKeyed(w.Context(), "Lab", "key")
	w.must(err)
	w.same("theirs by key", theirs, found)
}

func researchOutlivesARestart(w *world) {
	plan := w.add(0, w.entryOf("lab", run.ResearchPlan, "key"))
	want := []run.ResearchEntry{plan, w.add(plan.Sequence, w.entryOf("lab", run.ResearchGrant, "grant"))}
	w.reopen()
	w.same("research", want, w.research("lab"))
	_, err := w.AddResearch(w.Context(), 0, w.entryOf("lab", run.ResearchPlan, ""))
	w.refused(err, ledger.ErrFenced)
	w.add(want[1].Sequence, w.entryOf("lab", run.ResearchRevocation, ""))
}

func lateResearchIsFenced(w *world) {
	plan := w.add(0, w.entryOf("lab", run.ResearchPlan, ""))
	grant := w.add(plan.Sequence, w.entryOf("lab", run.ResearchGrant, ""))
	for _, after := range []int64{0, plan.Sequence, grant.Sequence + 1, -1} {
		_, err := w.AddResearch(w.Context(), after, w.entryOf("lab", run.ResearchCampaign, ""))
		w.refused(err, ledger.ErrFenced)
	}
	w.same("research", []run.ResearchEntry{plan, grant}, w.research("lab"))
}

// race adds the entry n times at once, and returns how often that succeeded. Every other answer must be the one wanted.
func (w *world) race(n int, entry func(i int) (after int64, entry run.ResearchEntry), want error) int {
	w.Helper()
	var added atomic.Int64
	together(n, func(i int) {
		after, one := entry(i)
		_, err := w.AddResearch(w.Context(), after, one)
		switch {
		case err == nil:
			added.Add(1)
		case !errors.Is(err, want):
			w.Errorf("error %v, want %v", err, want)
		}
	})
	return int(added.Load())
}

func racingResearch(w *world) {
	plan := w.add(0, w.entryOf("lab", run.ResearchPlan, ""))
	won := w.race(8, func(int) (int64, run.ResearchEntry) {
		return plan.Sequence, w.entryOf("lab", run.ResearchGrant, "")
	}, ledger.ErrFenced)
	w.same("added", 1, won)
	w.same("entries", 2, len(w.research("lab")))
}

func researchKeyIsUsedOnce(w *world) {
	plan := w.add(0, w.entryOf("lab", run.ResearchPlan, "key"))
	for _, after := range []int64{0, plan.Sequence} {
		_, err := w.AddResearch(w.Context(), after, w.entryOf("lab", run.ResearchGrant, "key"))
		w.refused(err, ledger.ErrExists)
	}
	next := w.add(plan.Sequence, w.entryOf("lab", run.ResearchPlan, "Key"))
	_, err := w.AddResearch(w.Context(), next.Sequence, w.entryOf("lab", run.ResearchGrant, "key"))
	w.refused(err, ledger.ErrExists)
	w.same("research", []run.ResearchEntry{next}, w.research("lab"))
}

func racingResearchKeys(w *world) {
	won := w.race(8, func(int) (int64, run.ResearchEntry) {
		return 0, w.entryOf("lab", run.ResearchPlan, "key")
	}, ledger.ErrExists)
	w.same("added", 1, won)
}

func researchKeyReadsBack(w *world) {
	first := w.add(0, w.entryOf("lab", run.ResearchPlan, "first"))
	w.add(first.Sequence, w.entryOf("lab", run.ResearchPlan, "second"))
	found, err := w.ResearchKeyed(w.Context(), "lab", "first")
	w.must(err)
	w.same("entry", first, found)
}

func researchWithoutAKey(w *world) {
	plan := w.add(0, w.entryOf("lab", run.ResearchPlan, ""))
	w.add(plan.Sequence, w.entryOf("lab", run.ResearchGrant, ""))
	for _, key := range []string{"", "other"} {
		_, err := w.ResearchKeyed(w.Context(), "lab", key)
		w.refused(err, ledger.ErrUnknown)
	}
}

func unsoundResearch(w *world) {
	for name, spoil := range map[string]func(*run.ResearchEntry){
		"of no workspace":    func(e *run.ResearchEntry) { e.Workspace = "" },
		"of no kind":         func(e *run.ResearchEntry) { e.Kind = "" },
		"of an unknown kind": func(e *run.ResearchEntry) { e.Kind = "wish" },
		"without a body":     func(e *run.ResearchEntry) { e.Body = nil },
		"with broken JSON":   func(e *run.ResearchEntry) { e.Body = json.RawMessage(`{`) },
	} {
		entry := w.entryOf("lab", run.ResearchPlan, "key")
		spoil(&entry)
		if _, err := w.AddResearch(w.Context(), 0, entry); err == nil {
			w.Errorf("an entry %s was added", name)
		}
	}
	w.add(0, w.entryOf("lab", run.ResearchPlan, "key"))
}

func pruneSparesResearch(w *world) {
	plan := w.add(0, w.entryOf("lab", run.ResearchPlan, "key"))
	w.same("removed", 0, w.prune(time.Hour, 10))
	w.same("research", []run.ResearchEntry{plan}, w.research("lab"))
}
