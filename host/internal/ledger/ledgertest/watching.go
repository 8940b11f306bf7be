package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func noticeFacts() []fact {
	return []fact{
		{"ReaderThatFollowsNoticesMissesNothing", readerMissesNothing},
		{"WatcherHearsOfEveryChange", watcherHearsOfChanges},
		{"WatcherHearsNothingOfOtherRuns", watcherHearsNothingElse},
		{"WatcherHearsNothingOfARefusedBatch", watcherHearsNothingOfRefused},
		{"StoppedWatcherHearsNothing", stoppedWatcherHearsNothing},
		{"DispatcherHearsOfWork", dispatcherHearsOfWork},
		{"OpenedLedgerWakesTheDispatcher", openedLedgerWakes},
	}
}

func readerMissesNothing(w *world) {
	const events = 300
	r := w.driven("r")
	seen := make(chan int64, 4)
	for range 4 {
		notice, stop := w.Watch(r.Ref)
		go func() {
			defer stop()
			seen <- w.follow(r.Ref, notice, events)
		}()
	}
	for range events {
		w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	}
	for range 4 {
		w.same("last sequence seen", int64(events-1), <-seen)
	}
}

// follow reads on notices alone until it has seen all events, and returns the last sequence it saw.
func (w *world) follow(of run.Ref, notice <-chan struct{}, events int64) int64 {
	after, late := int64(-1), time.After(patient)
	for after < events-1 {
		select {
		case <-notice:
		case <-late:
			return after
		}
		page, err := w.Events(w.Context(), of, after, int(events))
		if err != nil {
			w.Error(err)
			return after
		}
		for _, event := range page {
			if event.Sequence != after+1 {
				w.Errorf("saw %d after %d", event.Sequence, after)
			}
			after = event.Sequence
		}
	}
	return after
}

func watcherHearsOfChanges(w *world) {
	notice, stop := w.Watch(ref("r"))
	defer stop()
	w.queued("r")
	w.heard("creation", notice)
	r := w.claim()
	w.heard("claim", notice)
	approval := w.approval(r, 0)
	w.append(r, ledger.Batch{Approvals: []run.Approval{approval}, Park: true})
	w.heard("parking", notice)
	w.resolve(approval.ID, run.Denied)
	w.heard("answer", notice)
	r = w.claim()
	w.heard("claim of what was parked", notice)
	w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	w.heard("event", notice)
	w.finish(r, run.Completed)
	w.heard("end", notice)
}

func watcherHearsNothingElse(w *world) {
	notice, stop := w.Watch(run.Ref{Tenant: "other", ID: "r"})
	defer stop()
	r := w.driven("r")
	w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	w.quiet("another tenant's run", notice)
}

func watcherHearsNothingOfRefused(w *world) {
	r := w.driven("r")
	w.finish(r, run.Completed)
	notice, stop := w.Watch(r.Ref)
	defer stop()
	_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Events: []run.Event{think("x")}})
	w.refused(err, ledger.ErrFenced)
	w.quiet("a refused batch", notice)
}

func stoppedWatcherHearsNothing(w *world) {
	r := w.driven("r")
	notice, stop := w.Watch(r.Ref)
	other, stopOther := w.Watch(r.Ref)
	defer stopOther()
	stop()
	stop()
	w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	w.quiet("an event, after stop", notice)
	w.heard("an event, for the other watcher", other)
}

func dispatcherHearsOfWork(w *world) {
	r := w.driven("r")
	_, approvals := w.parked("parked", 2)
	drain(w.Wake())
	w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	w.resolve(approvals[0].ID, run.Denied)
	w.quiet("nothing to claim", w.Wake())
	w.queued("queued")
	w.heard("a queued run", w.Wake())
	w.resolve(approvals[1].ID, run.Denied)
	w.heard("a ready run", w.Wake())
	w.append(r, ledger.Batch{Release: true})
	w.heard("a released run", w.Wake())
}

func openedLedgerWakes(w *world) {
	w.queued("r")
	w.reopen()
	w.heard("what the last incarnation left", w.Wake())
}
