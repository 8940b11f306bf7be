package ledgertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// short is a lease that tests let end.
const short = 10 * time.Second

func leaseFacts() []fact {
	return []fact{
		{"RunIsTakenOverWhenItsLeaseIsOverAndNotBefore", takenOverInTime},
		{"OwnerWhoseRunWasTakenOverIsFenced", formerOwnerIsFenced},
		{"OwnerWritesOnUntilSomebodyTakesOver", ownerWritesOn},
		{"RunThatWasTakenOverGoesOnWhereItWas", takeoverGoesOn},
		{"OfManyTakingOverOneRunOneSucceeds", oneTakesOver},
		{"ChatRunIsTakenOverToo", chatIsTakenOver},
		{"RunsOfAGoneProcessAreTakenOver", goneProcess},
		{"RunThatBeganDoesNotWaitForItsTurnAgain", begunInTurn},
		{"ParkedAndReleasedRunsHaveNoLease", endedClaimsHaveNoLease},
		{"RenewalProlongsALease", renewalProlongs},
		{"RenewalTellsWhatIsStillHeld", renewalTellsWhatIsHeld},
		{"RenewalBringsCancels", renewalBringsCancels},
		{"ClaimThatNobodyKnowsOfIsNotRenewed", unknownClaimEnds},
		{"HundredsOfLeasesAreRenewedAtOnce", manyLeases},
		{"ClaimNeedsAnOwnerAndALease", claimNeedsOwnerAndLease},
	}
}

func (w *world) write(r run.Run) []run.Event {
	w.Helper()
	return w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
}

func (w *world) fenced(r run.Run) {
	w.Helper()
	_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Events: []run.Event{think("late")}})
	w.refused(err, ledger.ErrFenced)
}

// renew renews the leases on runs, each for a short time more, and returns the ids of those still held.
func (w *world) renew(owner string, driven ...run.Run) []string {
	w.Helper()
	held := []string{}
	for _, h := range w.renewed(owner, driven...) {
		held = append(held, h.Ref.ID)
	}
	return held
}

func (w *world) renewed(owner string, driven ...run.Run) []ledger.Held {
	w.Helper()
	fences := make([]run.Fence, len(driven))
	for i, r := range driven {
		fences[i] = r.Fence()
	}
	held, err := w.Renew(w.Context(), ledger.Node{Name: "host", Owner: owner, Lease: short, Runs: len(driven)}, fences)
	w.must(err)
	return held
}

func takenOverInTime(w *world) {
	w.queued("r")
	first := w.claimBy(node, short)
	until := w.clock.Now().Add(short)
	w.same("lease", &until, first.LeaseUntil)
	w.clock.pass(short - time.Microsecond)
	w.nothing()
	w.clock.pass(time.Microsecond)
	second := w.claimBy("node-2", short)
	w.same("run", first.Ref, second.Ref)
	w.same("owner", "node-2", second.Owner)
	w.same("epoch, attempts", []int64{2, 2}, []int64{second.Epoch, int64(second.Attempts)})
	w.same("start", first.StartedAt, second.StartedAt)
	w.same("left behind", []bool{false, true}, []bool{first.LeftBehind, second.LeftBehind})
}

func formerOwnerIsFenced(w *world) {
	w.queued("r")
	first := w.claimBy(node, short)
	w.clock.pass(short)
	second := w.claimBy("node-2", short)
	w.fenced(first)
	w.write(second)
	w.finish(second, run.Completed)
	w.fenced(first)
	w.same("events", 1, w.gapless(first.Ref))
}

func ownerWritesOn(w *world) {
	w.queued("r")
	r := w.claimBy(node, short)
	w.clock.pass(time.Hour)
	w.write(r)
	w.finish(r, run.Completed)
}

func takeoverGoesOn(w *world) {
	w.queued("r")
	for i := range 3 {
		r := w.claimBy(fmt.Sprintf("node-%d", i), short)
		w.same("sequence", int64(i), w.write(r)[0].Sequence)
		w.clock.pass(short)
	}
	w.same("events", 3, w.gapless(ref("r")))
}

func oneTakesOver(w *world) {
	w.queued("r")
	w.claimBy(node, short)
	w.clock.pass(short)
	epochs := make(chan int64, 20)
	together(20, func(i int) {
		r, err := w.Claim(w.Context(), by(fmt.Sprintf("node-%d", i)))
		switch {
		case err == nil:
			epochs <- r.Epoch
		case !errors.Is(err, ledger.ErrEmpty):
			w.Error(err)
		}
	})
	close(epochs)
	var won []int64
	for epoch := range epochs {
		won = append(won, epoch)
	}
	w.same("epochs won", []int64{2}, won)
}

func chatIsTakenOver(w *world) {
	w.driven("r", chat)
	w.clock.pass(lease)
	w.nothing()
	r, err := w.Claim(w.Context(), ledger.Claimant{Owner: "node-2", Kind: run.Chat, Lease: short})
	w.must(err)
	w.same("run, epoch", []any{"r", int64(2)}, []any{r.ID, r.Epoch})
}

func goneProcess(w *world) {
	w.queued("r")
	first := w.claimBy(node, short)
	w.reopen()
	w.clock.pass(short)
	second := w.claimBy("node-2", short)
	w.same("run", first.Ref, second.Ref)
	w.fenced(first)
	w.write(second)
}

func begunInTurn(w *world) {
	w.driven("first", inSession)
	second := w.driven("second", inTurn)
	w.append(second, ledger.Batch{Release: true})
	w.nothing()
	third := w.driven("third", inTurn)
	w.write(third)
	w.append(third, ledger.Batch{Release: true})
	w.same("claimed", "third", w.claim().ID)
}

func endedClaimsHaveNoLease(w *world) {
	for name, end := range map[string]ledger.Batch{"park": {Park: true}, "release": {Release: true}} {
		r := w.driven(name)
		w.append(r, end)
		got := w.get(r.Ref)
		w.same(name+": owner", "", got.Owner)
		w.same(name+": lease", (*time.Time)(nil), got.LeaseUntil)
	}
}

func renewalProlongs(w *world) {
	w.queued("r")
	r := w.claimBy(node, short)
	for range 5 {
		w.clock.pass(short - time.Second)
		w.same("held", []string{"r"}, w.renew(node, r))
	}
	until := w.clock.Now().Add(short)
	w.same("lease", &until, w.get(r.Ref).LeaseUntil)
	w.clock.pass(short - time.Microsecond)
	w.nothing()
	w.clock.pass(time.Microsecond)
	w.same("taken over", r.Ref, w.claimBy("node-2", short).Ref)
}

func renewalTellsWhatIsHeld(w *world) {
	lost, over, parked, kept, late := w.driven("lost"), w.driven("over"), w.driven("parked"), w.driven("kept"), w.driven("late")
	w.append(lost, ledger.Batch{Release: true})
	w.same("taken", "lost", w.claimBy("node-2", lease).ID)
	w.finish(over, run.Failed)
	w.append(parked, ledger.Batch{Approvals: []run.Approval{w.approval(parked, 0)}, Park: true})
	w.clock.pass(2 * lease)
	earlier := kept
	earlier.Epoch--
	unknown := run.Run{Ref: ref("unknown"), Owner: node, Epoch: 1}
	foreign := run.Run{Ref: run.Ref{Tenant: "other", ID: "kept"}, Owner: node, Epoch: 1}
	w.same("held", []string{"late", "kept"}, w.renew(node, lost, late, over, unknown, parked, foreign, kept))
	w.same("held in an earlier claim", []string{}, w.renew(node, earlier))
	w.same("held by another", []string{}, w.renew("node-3", kept))
	w.same("held by nobody", []string{}, w.renew(node))
}

func renewalBringsCancels(w *world) {
	a, b := w.driven("a"), w.driven("b")
	w.cancel(b.Ref, "changed my mind")
	want := []ledger.Held{{Ref: b.Ref, Cancel: "changed my mind"}, {Ref: a.Ref}}
	w.same("held", want, w.renewed(node, b, a))
}

func unknownClaimEnds(w *world) {
	w.queued("known")
	known := w.claimBy(node, short)
	w.queued("unknown")
	w.claimBy(node, short)
	w.clock.pass(short / 2)
	w.renew(node, known)
	w.clock.pass(short / 2)
	w.same("taken over", "unknown", w.claimBy(node, short).ID)
	w.nothing()
}

func manyLeases(w *world) {
	const runs = 300
	driven := make([]run.Run, runs)
	for i := range driven {
		driven[i] = w.driven(fmt.Sprintf("r%d", i))
	}
	w.same("held", ids(driven), w.renew(node, driven...))
	until := w.clock.Now().Add(short)
	for _, i := range []int{0, 255, 256, runs - 1} {
		w.same("lease", &until, w.get(driven[i].Ref).LeaseUntil)
	}
}

func claimNeedsOwnerAndLease(w *world) {
	w.queued("r")
	for _, by := range []ledger.Claimant{
		{Kind: run.Background, Lease: lease}, {Owner: node, Kind: run.Background}, {Owner: node, Kind: run.Background, Lease: -1},
	} {
		if r, err := w.Claim(w.Context(), by); err == nil || errors.Is(err, ledger.ErrEmpty) {
			w.Errorf("claimed %q, error %v", r.ID, err)
		}
		if mine, err := w.Take(w.Context(), "duty", by); err == nil {
			w.Errorf("took a duty: %v", mine)
		}
	}
	r := run.Run{Ref: ref("new"), Kind: run.Chat, Status: run.Running, Owner: node, Epoch: 1}
	if _, err := w.Create(w.Context(), r, ledger.Door{}); err == nil {
		w.Error("created a run that is driven for no time")
	}
}
