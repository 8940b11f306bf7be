package ledgertest

import (
	"fmt"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func choiceFacts() []fact {
	return []fact{
		{"KindAndChoiceOfAnApprovalAreKept", kindAndChoiceAreKept},
		{"KeyedAnswerIsGivenOnce", keyedAnswerIsGivenOnce},
		{"KeyOfAnAnswerIsKeptOnlyWithAChange", keyIsKeptWithAChange},
		{"KeysOfAnswersBelongToATenant", answerKeysBelongToATenant},
		{"OfRacingAnswersAndExpiriesOneWins", oneOfAnswersAndExpiriesWins},
		{"LastTwoAnswersAtOnceMakeARunReady", lastTwoAnswersAtOnce},
		{"DeadlinesAreThoseOfPendingApprovalsTheSoonestFirst", deadlines},
	}
}

func kindAndChoiceAreKept(w *world) {
	r := w.driven("r")
	want := w.approval(r, 0)
	want.Kind = run.UnknownOutcome
	w.append(r, ledger.Batch{Approvals: []run.Approval{want}, Park: true})
	got, err := w.Approval(w.Context(), want.ID)
	w.must(err)
	w.same("asked", want, got)
	_, _, err = w.Resolve(w.Context(), run.Resolution{ID: want.ID, Status: run.Approved, Choice: run.TreatAsDone})
	w.must(err)
	got, err = w.Approval(w.Context(), want.ID)
	w.must(err)
	w.same("choice", run.TreatAsDone, got.Choice)
}

// keyed answers under a key.
func (w *world) keyed(id string, status run.ApprovalStatus, key, digest string) (run.Approval, bool, error) {
	return w.Resolve(w.Context(), run.Resolution{
		ID: id, Status: status, By: "ops", Idempotency: run.Idempotency{Key: key, Digest: digest},
	})
}

func keyedAnswerIsGivenOnce(w *world) {
	_, approvals := w.parked("r", 2)
	first, changed, err := w.keyed(approvals[0].ID, run.Approved, "k", "one")
	w.must(err)
	w.same("changed", true, changed)
	w.clock.pass(time.Hour)
	again, changed, err := w.keyed(approvals[0].ID, run.Approved, "k", "one")
	w.must(err)
	w.same("changed again", false, changed)
	w.same("record", first, again)
	for _, a := range approvals {
		_, _, err = w.keyed(a.ID, run.ApprovalCancelled, "k", "two")
		w.refused(err, ledger.ErrKeyed)
	}
	w.list(run.ApprovalFilter{Status: run.Pending}, 1, approvals[1].ID)
}

func keyIsKeptWithAChange(w *world) {
	_, approvals := w.parked("r", 2)
	w.resolve(approvals[0].ID, run.Denied)
	_, changed, err := w.keyed(approvals[0].ID, run.Approved, "k", "one")
	w.must(err)
	w.same("changed what was settled", false, changed)
	_, changed, err = w.keyed(approvals[1].ID, run.Approved, "k", "two")
	w.must(err)
	w.same("changed", true, changed)
}

func answerKeysBelongToATenant(w *world) {
	_, mine := w.parked("r", 1)
	_, others := w.parked("s", 1, func(r *run.Run) { r.Tenant = "other" })
	for digest, id := range map[string]string{"one": mine[0].ID, "two": others[0].ID} {
		_, changed, err := w.keyed(id, run.Denied, "k", digest)
		w.must(err)
		w.same("changed", true, changed)
	}
}

func oneOfAnswersAndExpiriesWins(w *world) {
	const racers = 50
	r, approvals := w.parked("r", 10)
	var mu sync.Mutex
	winners := map[string][]string{}
	together(racers, func(i int) {
		if i == racers/2 {
			w.clock.pass(5 * time.Minute)
		}
		status := []run.ApprovalStatus{run.Approved, run.Denied, run.Expired}[i%3]
		for _, a := range approvals {
			by := fmt.Sprintf("%s by %d", status, i)
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
		if stored, changed := w.resolve(a.ID, run.Expired); !changed {
			w.same("winners of "+a.ID, []string{stored.ResolvedBy}, winners[a.ID])
		}
	}
	w.same("phase", run.Ready, w.get(r.Ref).Phase)
}

// lastTwoAnswersAtOnce: each would see the other's question as open, if they did not wait for each other.
func lastTwoAnswersAtOnce(w *world) {
	for i := range 20 {
		r, approvals := w.parked(fmt.Sprintf("r%d", i), 2)
		together(2, func(i int) {
			if _, _, err := w.Resolve(w.Context(), run.Resolution{ID: approvals[i].ID, Status: run.Approved}); err != nil {
				w.Error(err)
			}
		})
		w.same("phase", run.Ready, w.get(r.Ref).Phase)
		w.same("claimed", r.Ref, w.claim().Ref)
	}
}

func deadlines(w *world) {
	_, approvals := w.parked("r", 4)
	w.resolve(approvals[0].ID, run.Denied)
	now, next, err := w.Deadlines(w.Context(), 2)
	w.must(err)
	w.same("now", w.clock.Now(), now)
	w.same("deadlines", []run.Deadline{
		{ApprovalID: approvals[1].ID, At: approvals[1].ExpiresAt}, {ApprovalID: approvals[2].ID, At: approvals[2].ExpiresAt},
	}, next)
}
