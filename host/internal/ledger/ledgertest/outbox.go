package ledgertest

import (
	"context"
	"errors"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func outboxFacts() []fact {
	return []fact{
		{"OpenedApprovalIsTold", openedApprovalIsTold},
		{"SettledApprovalIsTold", settledApprovalIsTold},
		{"EndOfARunTellsOfEveryApprovalItSettles", endOfARunTells},
		{"RefusedBatchTellsNothing", refusedBatchTellsNothing},
		{"LateAnswerTellsNothing", lateAnswerTellsNothing},
		{"PostponedNoticeWaitsAndCounts", postponedNoticeWaits},
		{"ForgottenNoticeIsGone", forgottenNoticeIsGone},
		{"NoticesSurviveAReopen", noticesSurvive},
		{"PrunedRunTakesItsNoticesAlong", prunedRunTakesNotices},
	}
}

// due returns the notices that may be tried now, by id.
func (w *world) due() []run.Notice {
	w.Helper()
	due, err := w.Due(w.Context(), w.clock.Now(), 100)
	w.must(err)
	return due
}

func noticeIDs(notices []run.Notice) []string {
	names := []string{}
	for _, n := range notices {
		names = append(names, n.ID)
	}
	return names
}

func openedApprovalIsTold(w *world) {
	<-w.Outgoing() // what was pending when the ledger was opened
	_, approvals := w.parked("r", 1)
	w.heard("an opened approval", w.Outgoing())
	want := []run.Notice{{
		ID: approvals[0].ID + ":requested", Kind: run.ApprovalRequested, Approval: approvals[0], CreatedAt: w.clock.Now(),
	}}
	w.same("notices", want, w.due())
}

func settledApprovalIsTold(w *world) {
	_, approvals := w.parked("r", 1)
	w.must(w.Forget(w.Context(), approvals[0].ID+":requested"))
	settled, _ := w.resolve(approvals[0].ID, run.Denied)
	due := w.due()
	w.same("notices", []string{approvals[0].ID + ":settled"}, noticeIDs(due))
	w.same("approval", settled, due[0].Approval)
}

func endOfARunTells(w *world) {
	r := w.driven("r")
	first, second := w.approval(r, 0), w.approval(r, 1)
	w.append(r, ledger.Batch{Approvals: []run.Approval{first, second}})
	w.resolve(first.ID, run.Approved)
	w.finish(r, run.Failed)
	w.same("notices", []string{
		first.ID + ":requested", second.ID + ":requested", first.ID + ":settled", second.ID + ":settled",
	}, noticeIDs(w.due()))
}

func refusedBatchTellsNothing(w *world) {
	r := w.driven("r")
	stale := r.Fence()
	stale.Epoch++
	_, err := w.Append(w.Context(), stale, ledger.Batch{Approvals: []run.Approval{w.approval(r, 0)}})
	w.refused(err, ledger.ErrFenced)
	w.same("notices", []string{}, noticeIDs(w.due()))
}

func lateAnswerTellsNothing(w *world) {
	_, approvals := w.parked("r", 1)
	w.clock.pass(time.Hour)
	w.resolve(approvals[0].ID, run.Approved)
	w.same("notices", []string{approvals[0].ID + ":requested"}, noticeIDs(w.due()))
}

func postponedNoticeWaits(w *world) {
	_, approvals := w.parked("r", 1)
	id := approvals[0].ID + ":requested"
	w.must(w.Postpone(w.Context(), id, w.clock.Now().Add(time.Minute)))
	w.same("before its time", []string{}, noticeIDs(w.due()))
	w.clock.pass(time.Minute)
	due := w.due()
	w.same("at its time", []string{id}, noticeIDs(due))
	w.same("tries", 1, due[0].Attempts)
}

func forgottenNoticeIsGone(w *world) {
	_, approvals := w.parked("r", 1)
	id := approvals[0].ID + ":requested"
	w.must(w.Forget(w.Context(), id))
	w.must(w.Forget(w.Context(), id))
	w.must(w.Postpone(w.Context(), id, w.clock.Now()))
	w.same("notices", []string{}, noticeIDs(w.due()))
}

func noticesSurvive(w *world) {
	_, approvals := w.parked("r", 1)
	w.reopen()
	w.heard("what waits in an opened ledger", w.Outgoing())
	w.same("notices", []string{approvals[0].ID + ":requested"}, noticeIDs(w.due()))
}

func prunedRunTakesNotices(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{Approvals: []run.Approval{w.approval(r, 0)}})
	w.finish(r, run.Completed)
	w.clock.pass(time.Hour)
	if _, err := w.Prune(context.Background(), ledger.Retention{Runs: time.Minute}, 10); err != nil {
		w.Error(errors.Unwrap(err))
	}
	w.same("notices", []string{}, noticeIDs(w.due()))
}
