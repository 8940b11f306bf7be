package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func seizeFacts() []fact {
	return []fact{
		{"SeizedQueuedRunStaysQueued", seizedQueuedRunStaysQueued},
		{"SeizedParkedRunIsActive", seizedParkedRunIsActive},
		{"RunThatIsDrivenIsNotSeized", drivenIsNotSeized},
		{"FinishedRunIsNotSeized", finishedIsNotSeized},
		{"UnknownRunIsNotSeized", unknownIsNotSeized},
		{"RunOfAGoneIncarnationIsSeizedAndItsWriterFenced", goneOwnerIsFenced},
		{"OfManySeizingOneRunOneSucceeds", oneSeizureSucceeds},
		{"AdriftAreRunsNobodyWillDriveAgain", adriftRuns},
	}
}

func seizedQueuedRunStaysQueued(w *world) {
	want := w.queued("r")
	want.Owner, want.Epoch, want.Attempts = node, 1, 1
	got := w.seize(want.Ref)
	w.same("seized run", want, got)
	w.finish(got, run.Cancelled)
	w.same("status", run.Cancelled, w.get(want.Ref).Status)
}

func seizedParkedRunIsActive(w *world) {
	r, _ := w.parked("r", 1, chat)
	got := w.seize(r.Ref)
	w.same("phase, owner", []string{"", node}, []string{string(got.Phase), got.Owner})
	w.same("epoch, attempts", []int64{2, 2}, []int64{got.Epoch, int64(got.Attempts)})
}

func drivenIsNotSeized(w *world) {
	r := w.driven("r")
	_, err := w.Seize(w.Context(), r.Ref, node)
	w.refused(err, ledger.ErrOwned)
}

func finishedIsNotSeized(w *world) {
	r := w.driven("r")
	w.finish(r, run.Failed)
	_, err := w.Seize(w.Context(), r.Ref, node)
	w.refused(err, ledger.ErrFenced)
}

func unknownIsNotSeized(w *world) {
	_, err := w.Seize(w.Context(), ref("r"), node)
	w.refused(err, ledger.ErrUnknown)
}

// gone lets the incarnation that made the runs so far die: the ledger is opened anew, long after.
func (w *world) gone() {
	w.Helper()
	w.reopen()
	w.clock.pass(time.Hour)
}

func goneOwnerIsFenced(w *world) {
	r := w.driven("r")
	w.gone()
	got, err := w.Seize(w.Context(), r.Ref, "node-2")
	w.must(err)
	w.same("owner", "node-2", got.Owner)
	_, err = w.Append(w.Context(), r.Fence(), ledger.Batch{Events: []run.Event{{Kind: run.Think}}})
	w.refused(err, ledger.ErrFenced)
	w.append(got, ledger.Batch{Events: []run.Event{{Kind: run.Think}}})
}

func oneSeizureSucceeds(w *world) {
	r, _ := w.parked("r", 1)
	epochs := make(chan int64, 20)
	together(20, func(int) {
		if got, err := w.Seize(w.Context(), r.Ref, node); err == nil {
			epochs <- got.Epoch
		}
	})
	close(epochs)
	var won []int64
	for epoch := range epochs {
		won = append(won, epoch)
	}
	w.same("epochs won", []int64{2}, won)
}

func adriftRuns(w *world) {
	w.queued("waits in the queue")
	w.parked("waits for a person", 1)
	ready, approvals := w.parked("ready", 1)
	w.resolve(approvals[0].ID, run.Approved)
	done := w.driven("done")
	w.finish(done, run.Completed)
	w.driven("active")
	w.driven("active chat", chat)
	w.parked("parked chat", 1, chat)
	w.seize(w.queued("seized").Ref)
	w.append(w.driven("released chat", chat), ledger.Batch{Release: true})
	cancelled := w.queued("cancelled in the queue")
	_, err := w.Cancel(w.Context(), cancelled.Ref, "no")
	w.must(err)

	runs, err := w.Adrift(w.Context(), node)
	w.must(err)
	w.same("adrift while the incarnation lives", []string{"cancelled in the queue"}, ids(runs))
	w.gone()
	runs, err = w.Adrift(w.Context(), "node-2")
	w.must(err)
	want := []string{"active", "active chat", "parked chat", "seized", "released chat", "cancelled in the queue"}
	w.same("adrift", want, ids(runs))
	next, err := w.Claim(w.Context(), "node-2")
	w.must(err)
	w.same("the queue goes on with", "waits in the queue", next.ID)
	next, err = w.Claim(w.Context(), "node-2")
	w.must(err)
	w.same("and then with", ready.ID, next.ID)
}
