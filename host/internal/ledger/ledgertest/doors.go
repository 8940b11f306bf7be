package ledgertest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func doorFacts() []fact {
	return []fact{
		{"CreateReturnsWhatIsStored", createReturnsWhatIsStored},
		{"NewRunHasTheLedgersTimes", newRunHasLedgerTimes},
		{"FullQueueTakesNoMore", fullQueueTakesNoMore},
		{"OnlyBackgroundRunsThatWaitFillTheQueue", onlyWaitingFillsTheQueue},
		{"OfManyEnteringAQueueAsManySucceedAsFit", asManyAsFit},
		{"BusySessionTakesNoOther", busySessionTakesNoOther},
		{"SessionIsBusyForOneUserAndTenantOnly", busyForOneUserOnly},
		{"OfManyEnteringASessionAloneOneSucceeds", oneEntersAlone},
		{"InterruptingRunCancelsTheEarlierOnesOfItsSession", interruptingRunCancels},
		{"RunThatIsNotLetInInterruptsNobody", refusedRunInterruptsNobody},
		{"RunThatExistsIsNamedBeforeADoorThatIsNotOpen", existenceComesFirst},
	}
}

// enter tries to store a queued run, and returns why not.
func (w *world) enter(id string, door ledger.Door, edits ...func(*run.Run)) error {
	r := run.Run{
		Ref: ref(id), SessionID: "session-" + id, Kind: run.Background, Status: run.Queued,
		Request: run.Request{Identity: sdk.Identity{UserKey: "pska:user"}},
	}
	for _, edit := range edits {
		edit(&r)
	}
	_, err := w.Create(w.Context(), r, door)
	return err
}

func createReturnsWhatIsStored(w *world) {
	queued := w.queued("queued", inTurn, keyed("u", "k"), func(r *run.Run) { r.Request.Metadata = []byte(`{ "n": 1.0 }`) })
	w.same("queued", queued, w.get(queued.Ref))
	driven := w.driven("driven", chat)
	w.same("driven", driven, w.get(driven.Ref))
}

func newRunHasLedgerTimes(w *world) {
	long := time.Unix(1, 0)
	r := w.driven("r", func(r *run.Run) { r.CreatedAt, r.StartedAt, r.FinishedAt, r.NextSeq = long, &long, &long, 7 })
	now, until := w.clock.Now(), w.clock.Now().Add(lease)
	w.same("times", []any{now, &now, (*time.Time)(nil), &until}, []any{r.CreatedAt, r.StartedAt, r.FinishedAt, r.LeaseUntil})
	w.same("run", r, w.get(r.Ref))
}

func fullQueueTakesNoMore(w *world) {
	two := ledger.Door{Waiting: 2}
	w.must(w.enter("a", two))
	w.must(w.enter("b", two))
	w.refused(w.enter("c", two), ledger.ErrFull)
	_, err := w.Run(w.Context(), ref("c"))
	w.refused(err, ledger.ErrUnknown)
	w.must(w.enter("c", ledger.Door{Waiting: 3}))
	w.claim()
	w.refused(w.enter("d", two), ledger.ErrFull)
	w.claim()
	w.must(w.enter("d", two))
}

func onlyWaitingFillsTheQueue(w *world) {
	w.queued("chat", chat)
	w.driven("driven")
	w.append(w.driven("released"), ledger.Batch{Release: true})
	w.parked("parked", 1)
	w.finish(w.driven("finished"), run.Failed)
	w.must(w.enter("r", ledger.Door{Waiting: 1}))
	w.refused(w.enter("s", ledger.Door{Waiting: 1}), ledger.ErrFull)
}

func asManyAsFit(w *world) {
	var entered atomic.Int32
	together(20, func(i int) {
		switch err := w.enter(fmt.Sprintf("r%d", i), ledger.Door{Waiting: 5}); {
		case err == nil:
			entered.Add(1)
		case !errors.Is(err, ledger.ErrFull):
			w.Error(err)
		}
	})
	w.same("entered", int32(5), entered.Load())
}

func busySessionTakesNoOther(w *world) {
	alone := ledger.Door{Alone: true}
	w.must(w.enter("first", alone, inSession))
	w.refused(w.enter("while it waits", alone, inSession), ledger.ErrBusy)
	first := w.claim()
	w.refused(w.enter("while it is driven", alone, inSession), ledger.ErrBusy)
	w.append(first, ledger.Batch{Approvals: []run.Approval{w.approval(first, 0)}, Park: true})
	w.refused(w.enter("while it is parked", alone, inSession), ledger.ErrBusy)
	w.must(w.enter("beside", ledger.Door{}, inSession))
	page, err := w.Runs(w.Context(), run.Filter{})
	w.must(err)
	w.same("runs", 2, page.Total)
}

func busyForOneUserOnly(w *world) {
	alone := ledger.Door{Alone: true}
	w.must(w.enter("first", alone, inSession))
	w.must(w.enter("user", alone, inSession, func(r *run.Run) { r.Request.Identity.UserKey = "pska:other" }))
	w.must(w.enter("tenant", alone, inSession, func(r *run.Run) { r.Tenant = "other" }))
	w.must(w.enter("session", alone, inSession, func(r *run.Run) { r.SessionID = "t" }))
	w.refused(w.enter("second", alone, inSession), ledger.ErrBusy)
}

func oneEntersAlone(w *world) {
	var entered atomic.Int32
	together(20, func(i int) {
		switch err := w.enter(fmt.Sprintf("r%d", i), ledger.Door{Alone: true}, inSession); {
		case err == nil:
			entered.Add(1)
		case !errors.Is(err, ledger.ErrBusy):
			w.Error(err)
		}
	})
	w.same("entered", int32(1), entered.Load())
	w.finish(w.claim(), run.Completed)
	w.must(w.enter("next", ledger.Door{Alone: true}, inSession))
}

func existenceComesFirst(w *world) {
	shut := ledger.Door{Alone: true, Waiting: 1}
	w.must(w.enter("r", shut, inSession, keyed("pska:user", "k")))
	w.refused(w.enter("r", shut, inSession), ledger.ErrExists)
	w.refused(w.enter("other", shut, inSession, keyed("pska:user", "k")), ledger.ErrExists)
	w.refused(w.enter("other", shut, inSession), ledger.ErrBusy)
	w.refused(w.enter("other", shut), ledger.ErrFull)
}

// interrupting makes a run one that cancels the earlier ones of its session.
func interrupting(r *run.Run) { inTurn(r); r.Request.Multitask = run.Interrupt }

func interruptingRunCancels(w *world) {
	driven := w.driven("driven", inSession)
	asked, _ := w.parked("asked", 1, inSession)
	w.queued("elsewhere")
	w.queued("other", inSession, func(r *run.Run) { r.Request.Identity.UserKey = "pska:other" })
	w.finish(w.driven("done", inSession), run.Completed)
	_, err := w.Cancel(w.Context(), asked.Ref, ledger.Cancellation{Reason: "first"})
	w.must(err)
	notice, stop := w.Watch(driven.Ref)
	defer stop()
	w.must(w.enter("next", ledger.Door{Interrupts: "next"}, interrupting))
	w.heard("an interrupted run", notice)
	for id, want := range map[string]string{
		"driven": "next", "asked": "first", "elsewhere": "", "other": "", "done": "", "next": "",
	} {
		w.same("cancel of "+id, want, w.get(ref(id)).Cancel)
	}
}

func refusedRunInterruptsNobody(w *world) {
	first := w.queued("first")
	same := func(r *run.Run) { r.SessionID, r.Request.Identity = first.SessionID, first.Request.Identity }
	w.refused(w.enter("next", ledger.Door{Waiting: 1, Interrupts: "next"}, interrupting, same), ledger.ErrFull)
	w.same("cancel", "", w.get(first.Ref).Cancel)
}
