package ledgertest

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func endingFacts() []fact {
	return []fact{
		{"QueuedRunEndsWithItsCancel", queuedEndsWithItsCancel},
		{"ParkedRunEndsWithItsCancelAndNobodyIsAskedAnyMore", parkedEndsWithItsCancel},
		{"RunOfADeadOwnerEndsWithItsCancel", deadOwnersRunEnds},
		{"RunThatIsDrivenIsOnlyMarked", drivenIsOnlyMarked},
		{"ClosingMadeForAnotherMomentIsNotUsed", staleClosingIsNotUsed},
		{"RunIsClosedAfterItsCancelToo", closedLater},
		{"ClosingMustFinish", closingMustFinish},
		{"ClosingWakesTheNextInTurn", closingWakesTheNext},
		{"OfManyClosingOneRunOneDoes", oneCloses},
		{"RunIsClaimedOrClosedAndNeverBoth", claimedOrClosed},
		{"CancelUnderOneKeyIsOneCancel", cancelUnderOneKey},
		{"KeyOfAnotherRequestCancelsNothing", keyOfAnotherRequest},
		{"KeysBelongToOneTenantAndStay", keysBelongToOneTenant},
		{"AdriftAreCancelledRunsThatNobodyDrives", adriftRuns},
	}
}

// ending is a wish that also ends the run as it is now, with one event.
func (w *world) ending(r run.Run) ledger.Cancellation {
	return ledger.Cancellation{Reason: "no", Close: &ledger.Closing{
		NextSeq: w.get(r.Ref).NextSeq,
		Batch: ledger.Batch{
			Events: []run.Event{{Kind: run.SessionEnd, Content: "cancelled"}},
			Finish: &ledger.Finish{Status: run.Cancelled, Outcome: run.Outcome{StopReason: "cancelled"}},
		},
	}}
}

// close cancels and ends a run.
func (w *world) close(r run.Run) run.Run {
	w.Helper()
	got, err := w.Cancel(w.Context(), r.Ref, w.ending(r))
	w.must(err)
	w.same("stored", got, w.get(r.Ref))
	return got
}

// ended demands that a run was cancelled and has its last event once.
func (w *world) ended(got run.Run, events int) {
	w.Helper()
	w.same("status", run.Cancelled, got.Status)
	w.same("reasons", []string{"no", "cancelled"}, []string{got.Cancel, got.Outcome.StopReason})
	w.same("owner and lease", []any{"", (*time.Time)(nil)}, []any{got.Owner, got.LeaseUntil})
	w.same("events", events, w.gapless(got.Ref))
}

func queuedEndsWithItsCancel(w *world) {
	r := w.queued("r")
	notice, stop := w.Watch(r.Ref)
	defer stop()
	got := w.close(r)
	w.ended(got, 1)
	now := w.clock.Now()
	w.same("end", &now, got.FinishedAt)
	w.same("event", got.Ref, w.events(got.Ref)[0].Ref)
	w.heard("end", notice)
	w.nothing()
}

func parkedEndsWithItsCancel(w *world) {
	r, approvals := w.parked("r", 2)
	w.resolve(approvals[0].ID, run.Approved)
	w.ended(w.close(r), 1)
	for i, want := range []run.ApprovalStatus{run.Approved, run.ApprovalCancelled} {
		a, err := w.Approval(w.Context(), approvals[i].ID)
		w.must(err)
		w.same("approval", want, a.Status)
	}
	w.nothing()
}

func deadOwnersRunEnds(w *world) {
	w.queued("r")
	r := w.claimBy(node, short)
	w.write(r)
	w.clock.pass(short)
	w.ended(w.close(r), 2)
	w.fenced(r)
	w.same("held", []string{}, w.renew(node, r))
}

func drivenIsOnlyMarked(w *world) {
	w.queued("r")
	r := w.claimBy(node, short)
	w.clock.pass(short - time.Microsecond)
	got := w.close(r)
	w.same("status, reason", []string{"running", "no"}, []string{string(got.Status), got.Cancel})
	w.write(r)
}

func staleClosingIsNotUsed(w *world) {
	r := w.driven("r")
	w.write(r)
	wish := w.ending(r)
	w.write(r)
	w.append(r, ledger.Batch{Release: true})
	got, err := w.Cancel(w.Context(), r.Ref, wish)
	w.must(err)
	w.same("status, reason", []string{"running", "no"}, []string{string(got.Status), got.Cancel})
	w.same("events", 2, w.gapless(r.Ref))
}

func closedLater(w *world) {
	r := w.queued("r")
	w.cancel(r.Ref, "no")
	w.ended(w.close(r), 1)
	w.same("again", w.get(r.Ref), w.close(r))
	w.ended(w.get(r.Ref), 1)
}

func closingMustFinish(w *world) {
	r := w.queued("r")
	for _, batch := range []ledger.Batch{{}, {Events: []run.Event{think("x")}}, {Park: true}} {
		wish := ledger.Cancellation{Close: &ledger.Closing{Batch: batch}}
		if _, err := w.Cancel(w.Context(), r.Ref, wish); err == nil {
			w.Errorf("closed with %+v", batch)
		}
	}
	w.same("run", r, w.get(r.Ref))
}

func closingWakesTheNext(w *world) {
	first := w.queued("first", inSession)
	w.queued("second", inTurn)
	drain(w.Wake())
	w.close(first)
	w.heard("the end of the run ahead", w.Wake())
	w.same("claimed", "second", w.claim().ID)
}

func oneCloses(w *world) {
	r, _ := w.parked("r", 1)
	wish := w.ending(r)
	together(20, func(int) {
		got, err := w.Cancel(w.Context(), r.Ref, wish)
		if err != nil || got.Status != run.Cancelled {
			w.Errorf("status %q, error %v", got.Status, err)
		}
	})
	w.ended(w.get(r.Ref), 1)
}

func claimedOrClosed(w *world) {
	const rounds = 20
	for i := range rounds {
		r := w.queued(fmt.Sprintf("r%d", i))
		wish := w.ending(r)
		var claimed atomic.Bool
		together(2, func(side int) {
			if side == 0 {
				_, err := w.Claim(w.Context(), by(node))
				claimed.Store(err == nil)
				return
			}
			if _, err := w.Cancel(w.Context(), r.Ref, wish); err != nil {
				w.Error(err)
			}
		})
		got := w.get(r.Ref)
		w.same("reason", "no", got.Cancel)
		if closed := got.Status == run.Cancelled; closed == claimed.Load() {
			w.Errorf("claimed %v, closed %v", claimed.Load(), closed)
		}
	}
}

// under cancels a run under a key.
func (w *world) under(of run.Ref, key, digest string) (run.Run, error) {
	return w.Cancel(w.Context(), of, ledger.Cancellation{
		Reason: key + " " + digest, Idempotency: run.Idempotency{Key: key, Digest: digest},
	})
}

func cancelUnderOneKey(w *world) {
	r := w.driven("r")
	first, err := w.under(r.Ref, "k", "d")
	w.must(err)
	again, err := w.under(r.Ref, "k", "d")
	w.must(err)
	w.same("answer", first, again)
	w.finish(r, run.Cancelled)
	over, err := w.under(r.Ref, "k", "d")
	w.must(err)
	w.same("answer when it is over", w.get(r.Ref), over)
}

func keyOfAnotherRequest(w *world) {
	r, other := w.driven("r"), w.driven("other")
	_, err := w.under(r.Ref, "k", "d")
	w.must(err)
	want := w.get(other.Ref)
	_, err = w.under(other.Ref, "k", "e")
	w.refused(err, ledger.ErrKeyed)
	code, sentence := run.Public(err)
	w.same("public face", []string{"idempotency_key_reused", "This idempotency key was used for another request."},
		[]string{string(code), sentence})
	w.same("run", want, w.get(other.Ref))
	_, err = w.under(ref("unknown"), "l", "e")
	w.refused(err, ledger.ErrUnknown)
	_, err = w.under(other.Ref, "l", "d")
	w.must(err)
}

func keysBelongToOneTenant(w *world) {
	r, other := w.driven("r"), w.driven("r", func(r *run.Run) { r.Tenant = "other" })
	_, err := w.under(r.Ref, "k", "d")
	w.must(err)
	_, err = w.under(other.Ref, "k", "e")
	w.must(err)
	w.reopen()
	_, err = w.under(r.Ref, "k", "e")
	w.refused(err, ledger.ErrKeyed)
}

func adriftRuns(w *world) {
	w.driven("active and not cancelled")
	w.queued("waits")
	cancelled := []run.Run{w.queued("queued"), w.driven("driven"), w.driven("chat", chat)}
	parked, _ := w.parked("parked", 1)
	w.queued("claimed")
	w.same("claimed", "waits", w.claim().ID)
	cancelled = append(cancelled, parked, w.queued("later"))
	over := w.driven("over")
	for _, r := range append(cancelled, over) {
		w.cancel(r.Ref, "no")
	}
	w.finish(over, run.Cancelled)
	w.same("adrift", []string{"queued", "parked", "later"}, w.adrift(10))
	w.same("the oldest two", []string{"queued", "parked"}, w.adrift(2))
	w.same("none", []string{}, w.adrift(0))
	w.clock.pass(lease)
	w.same("adrift when leases are over", []string{"queued", "driven", "chat", "parked", "later"}, w.adrift(10))
}

func (w *world) adrift(limit int) []string {
	w.Helper()
	runs, err := w.Adrift(w.Context(), limit)
	w.must(err)
	return ids(runs)
}
