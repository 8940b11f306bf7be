package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func feedbackFacts() []fact {
	return []fact{
		{"FeedbackIsKeptAsItWasSaid", feedbackIsKept},
		{"TheLastFeedbackOnARunCounts", lastFeedbackCounts},
		{"FeedbackOnARunOfAnotherSessionIsRefused", feedbackNeedsTheSession},
		{"FeedbackOnAnUnknownRunIsRefused", feedbackNeedsARun},
		{"FeedbackWithoutARatingIsRefused", feedbackNeedsARating},
		{"FeedbackStaysWithItsTenant", feedbackStaysWithItsTenant},
		{"PruneRemovesFeedbackWithItsRun", feedbackGoesWithItsRun},
	}
}

// opinion is feedback on a run of the world.
func (w *world) opinion(r run.Run, rating run.Rating, comment string) run.Feedback {
	return run.Feedback{Ref: r.Ref, SessionID: r.SessionID, Rating: rating, Comment: comment, At: w.clock.Now()}
}

func (w *world) say(said run.Feedback) {
	w.Helper()
	w.must(w.Feedback(w.Context(), said))
}

// remembers compares what is kept about a run; nil: nothing.
func (w *world) remembers(of run.Ref, want *run.Feedback) {
	w.Helper()
	got, found, err := w.FeedbackOn(w.Context(), of)
	w.must(err)
	w.same("found", want != nil, found)
	if want == nil {
		want = &run.Feedback{}
	}
	w.same("feedback", *want, got)
}

func feedbackIsKept(w *world) {
	r := w.driven("r")
	w.remembers(r.Ref, nil)
	said := w.opinion(r, run.Up, "Das war's: \"richtig\".\nSecond line")
	w.say(said)
	w.remembers(r.Ref, &said)
	w.reopen()
	w.remembers(r.Ref, &said)
}

func lastFeedbackCounts(w *world) {
	r, other := w.driven("r"), w.driven("other")
	w.say(w.opinion(other, run.Up, "this one"))
	w.say(w.opinion(r, run.Up, "good"))
	w.clock.pass(time.Minute)
	last := w.opinion(r, run.Down, "")
	w.say(last)
	w.say(last)
	w.remembers(r.Ref, &last)
	kept, _, err := w.FeedbackOn(w.Context(), other.Ref)
	w.must(err)
	w.same("the other run's", "this one", kept.Comment)
}

func feedbackNeedsTheSession(w *world) {
	r, other := w.driven("r"), w.driven("other")
	said := w.opinion(r, run.Up, "")
	said.SessionID = other.SessionID
	w.refused(w.Feedback(w.Context(), said), ledger.ErrUnknown)
	w.remembers(r.Ref, nil)
}

func feedbackNeedsARun(w *world) {
	w.refused(w.Feedback(w.Context(), run.Feedback{Ref: ref("nobody"), Rating: run.Up}), ledger.ErrUnknown)
}

func feedbackNeedsARating(w *world) {
	r := w.driven("r")
	for _, rating := range []run.Rating{"", "sideways"} {
		if w.Feedback(w.Context(), w.opinion(r, rating, "")) == nil {
			w.Errorf("%q was kept", rating)
		}
	}
	w.remembers(r.Ref, nil)
}

func feedbackStaysWithItsTenant(w *world) {
	r := w.driven("r")
	twin := w.driven("r", func(r *run.Run) { r.Tenant = "acme" })
	said := w.opinion(r, run.Down, "")
	w.say(said)
	w.remembers(twin.Ref, nil)
	w.remembers(r.Ref, &said)
}

func feedbackGoesWithItsRun(w *world) {
	r := w.driven("r")
	w.say(w.opinion(r, run.Up, "good"))
	w.append(r, ledger.Batch{Finish: &ledger.Finish{Status: run.Completed}})
	w.same("removed", 1, w.prune(time.Second, 10))
	w.remembers(r.Ref, nil)
	w.driven("r")
	w.remembers(r.Ref, nil)
}
