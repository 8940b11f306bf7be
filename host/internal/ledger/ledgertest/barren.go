package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func barrenFacts() []fact {
	return []fact{
		{"ClaimsThatEndWithoutAnEventAreCounted", barrenClaimsAreCounted},
		{"EventStartsTheCountAnew", eventStartsTheCountAnew},
		{"WhatIsHandedBackOrParkedCountsAsNoFailure", gracefulEndsDoNotCount},
		{"PauseGrowsWithEachClaimInVain", pauseGrows},
		{"PauseHoldsUpNobodyElse", pauseHoldsUpNobodyElse},
		{"EventEndsThePause", eventEndsThePause},
		{"HandingBackEndsThePause", releaseEndsThePause},
		{"RenewalDoesNotMoveThePause", renewalDoesNotMoveThePause},
	}
}

// vain lets n claims of a queued run end without an event, and returns the claim after them.
func (w *world) vain(id string, n int) run.Run {
	w.Helper()
	w.queued(id)
	r := w.claimBy(node, short)
	for range n {
		w.clock.pass(short + time.Minute)
		r = w.claimBy(node, short)
	}
	return r
}

func barrenClaimsAreCounted(w *world) {
	w.same("barren at first", 0, w.vain("a", 0).Barren)
	w.finish(w.get(ref("a")), run.Failed)
	r := w.vain("b", 3)
	w.same("barren, attempts", []int{3, 4}, []int{r.Barren, r.Attempts})
	r.LeftBehind = false // nobody asks later how the claim came about
	w.same("stored", r, w.get(r.Ref))
}

func eventStartsTheCountAnew(w *world) {
	w.write(w.vain("r", 3))
	w.clock.pass(short)
	r := w.claimBy(node, short)
	w.same("barren", 0, r.Barren)
	w.clock.pass(short)
	w.same("barren again", 1, w.claimBy(node, short).Barren)
}

func gracefulEndsDoNotCount(w *world) {
	r := w.vain("r", 3)
	for range 2 {
		w.append(r, ledger.Batch{Release: true})
		r = w.claimBy(node, short)
		w.same("barren", 0, r.Barren)
		w.append(r, ledger.Batch{Park: true})
		r = w.claimBy(node, short)
		w.same("barren", 0, r.Barren)
	}
	w.clock.pass(short)
	w.same("barren after a lease that ended", 1, w.claimBy(node, short).Barren)
}

func pauseGrows(w *world) {
	w.queued("r")
	r := w.claimBy(node, short)
	w.same("not before, at first", (*time.Time)(nil), r.NotBefore)
	for _, pause := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second} {
		w.clock.pass(short)
		if pause > 0 {
			at := w.clock.Now().Add(pause)
			w.same("not before", &at, r.NotBefore)
			w.clock.pass(pause - time.Microsecond)
			w.nothing()
			w.clock.pass(time.Microsecond)
		}
		r = w.claimBy(node, short)
	}
	w.same("barren", 6, r.Barren)
}

func pauseHoldsUpNobodyElse(w *world) {
	w.vain("r", 2)
	w.clock.pass(short)
	w.queued("other")
	w.same("claimed", "other", w.claim().ID)
	w.nothing()
}

func eventEndsThePause(w *world) {
	r := w.vain("r", 4)
	w.write(r)
	w.same("not before", (*time.Time)(nil), w.get(r.Ref).NotBefore)
	w.clock.pass(short)
	w.same("claimed", r.Ref, w.claim().Ref)
}

func releaseEndsThePause(w *world) {
	r := w.vain("r", 4)
	w.append(r, ledger.Batch{Release: true})
	w.same("not before", (*time.Time)(nil), w.get(r.Ref).NotBefore)
	w.same("claimed", r.Ref, w.claim().Ref)
}

func renewalDoesNotMoveThePause(w *world) {
	r := w.vain("r", 1)
	w.clock.pass(short - time.Second)
	w.renew(node, r)
	w.same("not before", r.NotBefore, w.get(r.Ref).NotBefore)
	w.clock.pass(short)
	w.same("claimed", r.Ref, w.claim().Ref)
}
