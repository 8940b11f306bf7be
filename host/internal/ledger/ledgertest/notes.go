package ledgertest

import (
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func noteFacts() []fact {
	return []fact{
		{"NoteReadsBackWhole", noteReadsBack},
		{"NoteWithoutATimeGetsTheLedgersTime", noteGetsATime},
		{"NotesAndRecordsOfRunsAreOneSequence", notesAreInSequence},
		{"NoteIsNeverARecordOfARunOfItsName", noteIsOfNoRun},
		{"NoteStaysWhenARunOfItsNameGoes", noteStaysWhenARunOfItsNameGoes},
		{"NoteNeedsNoClaim", noteNeedsNoClaim},
		{"StatsCountNoNotes", statsCountNoNotes},
		{"PruneRemovesOldNotes", pruneRemovesOldNotes},
		{"PruneRemovesAllOldNotesAtOnce", pruneRemovesManyNotes},
		{"PruneOfNothingSparesNotes", pruneOfNothing},
		{"NoteSequenceIsNeverGivenTwice", noteSequenceIsUnique},
		{"ReopenedLedgerKeepsNotes", notesOutliveARestart},
	}
}

// noteOf is a decision on a call of the world's time that belongs to no run.
func (w *world) noteOf(id, call string) run.Audit {
	return run.Audit{
		At: w.clock.Now(), Stage: run.Decided, Run: run.Ref{ID: id}, CallID: call, UserKey: "agent-tools:lab",
		Tool: "graph_search", ToolDigest: "sha256:t", ArgsDigest: "sha256:a", Decision: []byte(`{"action": "allow"}`),
	}
}

func (w *world) note(record run.Audit) {
	w.Helper()
	w.must(w.Note(w.Context(), record))
}

// auditedCalls names the calls of all audit records, in order.
func (w *world) auditedCalls(of *run.Ref) []string {
	w.Helper()
	var names []string
	for _, audit := range w.audits(of, 0, 1000) {
		names = append(names, audit.CallID)
	}
	return names
}

func noteReadsBack(w *world) {
	want := run.Audit{
		At: w.clock.Now(), Stage: run.Ended, Run: run.Ref{Tenant: "t", ID: "turn"}, CallID: "call", UserKey: "u:v",
		Tool: "graph_search", ToolDigest: "sha256:t", ArgsDigest: "sha256:a", Decision: []byte(`{"n": 1.0}`),
		ApprovalID: "grant", Dispatched: true, IsError: true, ResultDigest: "sha256:r", Duration: 1500, Gas: 77,
	}
	w.note(want)
	got := w.audits(nil, 0, 10)
	want.Sequence = got[0].Sequence
	w.same("audits", []run.Audit{want}, got)
}

func noteGetsATime(w *world) {
	record := w.noteOf("turn", "call")
	record.At = time.Time{}
	w.note(record)
	w.same("time", w.clock.Now(), w.audits(nil, 0, 1)[0].At)
}

func notesAreInSequence(w *world) {
	r := w.driven("r")
	w.note(w.noteOf("turn", "1"))
	w.append(r, ledger.Batch{Audits: []run.Audit{{Stage: run.Decided, CallID: "2"}}})
	w.note(w.noteOf("turn", "3"))
	w.same("all", []string{"1", "2", "3"}, w.auditedCalls(nil))
	first := w.audits(nil, 0, 1)[0].Sequence
	w.same("after the first", "2", w.audits(nil, first, 1)[0].CallID)
}

func noteIsOfNoRun(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{Audits: []run.Audit{{Stage: run.Decided, CallID: "mine"}}})
	record := w.noteOf(r.ID, "noted")
	record.Run = r.Ref
	w.note(record)
	w.same("of the run", []string{"mine"}, w.auditedCalls(&r.Ref))
	w.same("of no run", []string(nil), w.auditedCalls(&run.Ref{ID: "turn"}))
}

func noteStaysWhenARunOfItsNameGoes(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{
		Audits: []run.Audit{{Stage: run.Decided, CallID: "mine"}}, Finish: &ledger.Finish{Status: run.Completed},
	})
	w.clock.pass(time.Minute)
	record := w.noteOf(r.ID, "noted")
	record.Run = r.Ref
	w.note(record)
	w.same("removed", 1, w.prune(-time.Second, 10))
	w.same("left", []string{"noted"}, w.auditedCalls(nil))
}

func noteNeedsNoClaim(w *world) {
	r := w.driven("r")
	w.finish(r, run.Completed)
	record := w.noteOf(r.ID, "call")
	record.Run = r.Ref
	w.note(record)
	w.same("noted", []string{"call"}, w.auditedCalls(nil))
}

func statsCountNoNotes(w *world) {
	w.busy()
	before, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	w.note(w.noteOf("done", "call"))
	after, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	w.same("stats", before, after)
}

func pruneRemovesOldNotes(w *world) {
	w.note(w.noteOf("turn", "old"))
	w.clock.pass(time.Minute)
	w.note(w.noteOf("turn", "new"))
	w.same("runs removed", 0, w.prune(0, 10))
	w.same("left", []string{"new"}, w.auditedCalls(nil))
	w.same("runs removed, a microsecond later", 0, w.prune(time.Microsecond, 10))
	w.same("left at last", []string(nil), w.auditedCalls(nil))
}

func pruneRemovesManyNotes(w *world) {
	const many = 600
	together(8, func(i int) {
		for n := i; n < many; n += 8 {
			if err := w.Note(w.Context(), w.noteOf("turn", fmt.Sprint(n))); err != nil {
				w.Error(err)
			}
		}
	})
	w.same("noted", many, len(w.audits(nil, 0, 1000)))
	w.prune(time.Second, 1)
	w.same("left", 0, len(w.audits(nil, 0, 1000)))
}

func pruneOfNothing(w *world) {
	w.note(w.noteOf("turn", "call"))
	w.same("runs removed", 0, w.prune(time.Hour, 0))
	w.same("left", []string{"call"}, w.auditedCalls(nil))
}

func noteSequenceIsUnique(w *world) {
	w.note(w.noteOf("turn", "call"))
	before := w.audits(nil, 0, 10)[0].Sequence
	w.prune(time.Hour, 10)
	w.note(w.noteOf("turn", "next"))
	if after := w.audits(nil, 0, 10)[0].Sequence; after <= before {
		w.Errorf("sequence %d after %d", after, before)
	}
}

func notesOutliveARestart(w *world) {
	w.note(w.noteOf("turn", "call"))
	want := w.audits(nil, 0, 10)
	w.reopen()
	w.same("audits", want, w.audits(nil, 0, 10))
}
