package ledgertest

import (
	"fmt"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func answerFacts() []fact {
	return []fact{
		{"AnswerIsRecordedWhole", answerIsRecorded},
		{"OfFiftyAnswersToEachOfFiftyQuestionsOneWins", oneAnswerWins},
		{"SecondAnswerChangesNothing", secondAnswerChangesNothing},
		{"AnswerAtOrAfterExpiryChangesNothing", lateAnswerChangesNothing},
		{"ApprovalExpiresWhenItsTimeIsOverAndNotBefore", expiresInTime},
		{"CancelSettlesAtAnyTime", cancelSettlesAtAnyTime},
		{"AnswerMustSettle", answerMustSettle},
		{"LastAnswerMakesAParkedRunReady", lastAnswerMakesReady},
		{"AnswerToARunThatIsDrivenLeavesItActive", answerLeavesDrivenRunActive},
	}
}

func answerIsRecorded(w *world) {
	_, approvals := w.parked("r", 1)
	w.clock.pass(time.Minute)
	now, want := w.clock.Now(), approvals[0]
	want.Status, want.ResolvedAt, want.ResolvedBy, want.Resolution = run.Approved, &now, "ops", "looked at it"
	got, changed := w.resolve(want.ID, run.Approved)
	w.same("changed", true, changed)
	w.same("answer", want, got)
	got, err := w.Approval(w.Context(), want.ID)
	w.must(err)
	w.same("stored", want, got)
}

func oneAnswerWins(w *world) {
	const questions, answers = 50, 50
	r, approvals := w.parked("r", questions)
	var mu sync.Mutex
	winners := map[string][]string{}
	together(answers, func(i int) {
		status := []run.ApprovalStatus{run.Approved, run.Denied, run.ApprovalCancelled}[i%3]
		for _, a := range approvals {
			by := fmt.Sprintf("person-%d", i)
			_, changed, err := w.Resolve(w.Context(), run.Resolution{ID: a.ID, Status: status, By: by})
			if err != nil {
				w.Error(err)
				return
			}
			if changed {
				mu.Lock()
				winners[a.ID] = append(winners[a.ID], by)
				mu.Unlock()
			}
		}
	})
	for _, a := range approvals {
		stored, err := w.Approval(w.Context(), a.ID)
		w.must(err)
		w.same("winners of "+a.ID, []string{stored.ResolvedBy}, winners[a.ID])
	}
	w.same("phase", run.Ready, w.get(r.Ref).Phase)
}

func secondAnswerChangesNothing(w *world) {
	_, approvals := w.parked("r", 1)
	first, _ := w.resolve(approvals[0].ID, run.Denied)
	w.clock.pass(time.Second)
	for _, status := range []run.ApprovalStatus{run.Denied, run.Approved, run.ApprovalCancelled} {
		again, changed := w.resolve(approvals[0].ID, status)
		w.same("changed", false, changed)
		w.same("approval", first, again)
	}
}

func lateAnswerChangesNothing(w *world) {
	r, approvals := w.parked("r", 1)
	w.clock.pass(5 * time.Minute)
	for _, status := range []run.ApprovalStatus{run.Approved, run.Denied} {
		got, changed := w.resolve(approvals[0].ID, status)
		w.same("changed", false, changed)
		w.same("approval", approvals[0], got)
	}
	w.same("phase", run.AwaitingApproval, w.get(r.Ref).Phase)
}

func expiresInTime(w *world) {
	_, approvals := w.parked("r", 1)
	w.clock.pass(5*time.Minute - time.Microsecond)
	_, changed := w.resolve(approvals[0].ID, run.Expired)
	w.same("changed before its time", false, changed)
	w.clock.pass(time.Microsecond)
	got, changed := w.resolve(approvals[0].ID, run.Expired)
	w.same("changed in time", true, changed)
	w.same("status", run.Expired, got.Status)
}

func cancelSettlesAtAnyTime(w *world) {
	_, approvals := w.parked("r", 2)
	_, changed := w.resolve(approvals[0].ID, run.ApprovalCancelled)
	w.same("changed before expiry", true, changed)
	w.clock.pass(time.Hour)
	_, changed = w.resolve(approvals[1].ID, run.ApprovalCancelled)
	w.same("changed after expiry", true, changed)
}

func answerMustSettle(w *world) {
	_, approvals := w.parked("r", 1)
	for _, status := range []run.ApprovalStatus{run.Pending, "", "granted"} {
		if _, _, err := w.Resolve(w.Context(), run.Resolution{ID: approvals[0].ID, Status: status}); err == nil {
			w.Errorf("resolved as %q", status)
		}
	}
}

func lastAnswerMakesReady(w *world) {
	r, approvals := w.parked("r", 2)
	w.resolve(approvals[0].ID, run.Approved)
	w.same("phase after the first", run.AwaitingApproval, w.get(r.Ref).Phase)
	w.resolve(approvals[1].ID, run.Denied)
	w.same("phase after the last", run.Ready, w.get(r.Ref).Phase)
}

func answerLeavesDrivenRunActive(w *world) {
	r := w.driven("r")
	a := w.approval(r, 0)
	w.append(r, ledger.Batch{Approvals: []run.Approval{a}})
	w.resolve(a.ID, run.Approved)
	got := w.get(r.Ref)
	w.same("phase, owner", []string{"", node}, []string{string(got.Phase), got.Owner})
	w.append(r, ledger.Batch{Park: true})
	w.same("phase once parked", run.Ready, w.get(r.Ref).Phase)
}
