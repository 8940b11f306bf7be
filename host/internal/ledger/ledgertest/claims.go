package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func claimFacts() []fact {
	return []fact{
		{"OldestRunIsClaimedFirst", oldestIsClaimedFirst},
		{"ClaimMakesARunRunning", claimMakesRunning},
		{"EmptyQueueSaysSo", emptyQueueSaysSo},
		{"EachKindIsClaimedByItself", kindsAreClaimedApart},
		{"EachRunIsClaimedOnce", eachRunIsClaimedOnce},
		{"CancelledRunIsNeverClaimed", cancelledIsNeverClaimed},
		{"ReleasedRunIsClaimedAgain", releasedIsClaimedAgain},
		{"RunThatWaitsForAPersonIsNotClaimed", waitingIsNotClaimed},
		{"ReadyRunIsClaimedAgain", readyIsClaimedAgain},
		{"StartIsTheFirstClaim", startIsTheFirstClaim},
	}
}

// nothing demands that the queue has nothing to claim.
func (w *world) nothing() {
	w.Helper()
	r, err := w.Claim(w.Context(), by(node))
	if !errors.Is(err, ledger.ErrEmpty) {
		w.Fatalf("claimed %q with error %v, want %v", r.ID, err, ledger.ErrEmpty)
	}
}

func oldestIsClaimedFirst(w *world) {
	for _, id := range []string{"b", "a", "c"} {
		w.queued(id)
	}
	got := ids([]run.Run{w.claim(), w.claim(), w.claim()})
	w.same("order", []string{"b", "a", "c"}, got)
}

func claimMakesRunning(w *world) {
	want := w.queued("r")
	w.clock.pass(time.Minute)
	now, until := w.clock.Now(), w.clock.Now().Add(lease)
	want.LeaseUntil = &until
	want.Status, want.Owner, want.Epoch, want.Attempts, want.StartedAt = run.Running, node, 1, 1, &now
	w.same("claimed run", want, w.claim())
	w.same("stored run", want, w.get(want.Ref))
}

func emptyQueueSaysSo(w *world) { w.nothing() }

func kindsAreClaimedApart(w *world) {
	w.queued("chat", chat)
	w.nothing()
	w.queued("background")
	r, err := w.Claim(w.Context(), ledger.Claimant{Owner: node, Kind: run.Chat, Lease: lease})
	w.must(err)
	w.same("chat", "chat", r.ID)
	w.same("background", "background", w.claim().ID)
}

func eachRunIsClaimedOnce(w *world) {
	const runs = 100
	for i := range runs {
		w.queued(fmt.Sprintf("r%d", i))
	}
	var mu sync.Mutex
	claims := map[string]int{}
	together(16, func(i int) {
		for {
			r, err := w.Claim(w.Context(), by(fmt.Sprintf("node-%d", i)))
			if errors.Is(err, ledger.ErrEmpty) {
				return
			}
			if err != nil {
				w.Error(err)
				return
			}
			mu.Lock()
			claims[r.ID]++
			mu.Unlock()
		}
	})
	w.same("runs claimed", runs, len(claims))
	for id, times := range claims {
		if times != 1 {
			w.Errorf("%s claimed %d times", id, times)
		}
	}
}

func cancelledIsNeverClaimed(w *world) {
	r := w.queued("r")
	w.cancel(r.Ref, "changed my mind")
	w.nothing()
}

func releasedIsClaimedAgain(w *world) {
	w.queued("r")
	first := w.claim()
	w.append(first, ledger.Batch{Release: true})
	released := w.get(first.Ref)
	w.same("status, phase", []string{"running", "ready"}, []string{string(released.Status), string(released.Phase)})
	w.same("lease", (*time.Time)(nil), released.LeaseUntil)
	w.same("owner", "", released.Owner)
	again := w.claim()
	w.same("epoch and attempts", []int64{2, 2}, []int64{again.Epoch, int64(again.Attempts)})
}

func waitingIsNotClaimed(w *world) {
	r, _ := w.parked("r", 1)
	w.same("phase", run.AwaitingApproval, w.get(r.Ref).Phase)
	w.nothing()
}

func readyIsClaimedAgain(w *world) {
	r, approvals := w.parked("r", 1)
	w.resolve(approvals[0].ID, run.Denied)
	again := w.claim()
	w.same("run", r.Ref, again.Ref)
	w.same("phase", run.Active, again.Phase)
	w.same("epoch", int64(2), again.Epoch)
}

func startIsTheFirstClaim(w *world) {
	w.queued("r")
	first := w.claim()
	w.append(first, ledger.Batch{Release: true})
	w.clock.pass(time.Minute)
	w.same("start", first.StartedAt, w.claim().StartedAt)
}
