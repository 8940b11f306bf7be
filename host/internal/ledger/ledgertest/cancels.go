package ledgertest

import (
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func cancelFacts() []fact {
	return []fact{
		{"CancelIsRecordedAndNothingElseChanges", cancelIsRecorded},
		{"FirstReasonStays", firstReasonStays},
		{"CancelWithoutAReasonIsStillACancel", cancelWithoutReason},
		{"FinishedRunIsUnchangedByCancel", finishedIsUnchanged},
		{"UnknownRunIsNotCancelled", unknownIsNotCancelled},
		{"CancelWakesTheDispatcherAndWatchers", cancelWakes},
		{"CancelledRunIsStillWrittenByItsOwner", cancelledIsStillWritten},
	}
}

func (w *world) cancel(of run.Ref, reason string) run.Run {
	w.Helper()
	r, err := w.Cancel(w.Context(), of, ledger.Cancellation{Reason: reason})
	w.must(err)
	return r
}

func cancelIsRecorded(w *world) {
	r := w.driven("r")
	want := w.get(r.Ref)
	want.Cancel = "changed my mind"
	w.same("returned run", want, w.cancel(r.Ref, "changed my mind"))
	w.same("stored run", want, w.get(r.Ref))
}

func firstReasonStays(w *world) {
	r := w.queued("r")
	w.cancel(r.Ref, "first")
	w.same("reason", "first", w.cancel(r.Ref, "second").Cancel)
}

func cancelWithoutReason(w *world) {
	r := w.queued("r")
	if w.cancel(r.Ref, "").Cancel == "" {
		w.Error("the wish was lost")
	}
}

func finishedIsUnchanged(w *world) {
	r := w.driven("r")
	w.finish(r, run.Completed)
	want := w.get(r.Ref)
	w.same("returned run", want, w.cancel(r.Ref, "too late"))
}

func unknownIsNotCancelled(w *world) {
	_, err := w.Cancel(w.Context(), ref("r"), ledger.Cancellation{})
	w.refused(err, ledger.ErrUnknown)
}

func cancelWakes(w *world) {
	r := w.driven("r")
	drain(w.Wake())
	notice, stop := w.Watch(r.Ref)
	defer stop()
	w.cancel(r.Ref, "now")
	w.heard("cancel, for the dispatcher", w.Wake())
	w.heard("cancel, for watchers", notice)
}

func cancelledIsStillWritten(w *world) {
	r := w.driven("r")
	w.cancel(r.Ref, "now")
	w.append(r, ledger.Batch{
		Events: []run.Event{{Kind: run.SessionEnd}}, Finish: &ledger.Finish{Status: run.Cancelled},
	})
	w.same("status", run.Cancelled, w.get(r.Ref).Status)
}

// drain takes a notice that may be waiting.
func drain(notice <-chan struct{}) {
	select {
	case <-notice:
	default:
	}
}
