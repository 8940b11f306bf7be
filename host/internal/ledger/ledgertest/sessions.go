package ledgertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func sessionFacts() []fact {
	return []fact{
		{"CompletedRunIsATurnOfItsSession", completedRunIsATurn},
		{"TurnsComeInTheOrderOfTheirCompletion", turnsAreInOrder},
		{"RunThatIsNotCompletedIsNoTurn", onlyCompletedRunsAreTurns},
		{"SameSessionOfAnotherUserOrTenantIsAnother", sessionsAreApart},
		{"LongSessionKeepsItsNewestTurns", newestTurnsAreKept},
		{"TurnsSurviveAReopening", turnsSurvive},
		{"UnfinishedRunsOfASessionAreAhead", unfinishedRunsAreAhead},
		{"RunInTurnIsClaimedWhenTheEarlierOnesAreOver", inTurnIsClaimedLater},
		{"RunInTurnWaitsForAPersonsAnswerToAnotherRun", inTurnWaitsForParked},
		{"RunInTurnHoldsUpNoOtherSession", inTurnHoldsUpNobody},
	}
}

var session = run.SessionKey{Tenant: tenant, UserKey: "pska:user", SessionID: "s"}

func inSession(r *run.Run) { r.SessionID = "s" }

func inTurn(r *run.Run) { r.SessionID, r.Request.Multitask = "s", run.Enqueue }

// said makes a run of a session that was asked and has answered.
func (w *world) said(id, question, answer string, edits ...func(*run.Run)) run.Run {
	w.Helper()
	r := w.driven(id, append([]func(*run.Run){inSession, func(r *run.Run) {
		r.Request.Messages = []run.Message{{Role: run.User, Content: question}}
	}}, edits...)...)
	w.clock.pass(time.Second)
	w.append(r, ledger.Batch{Finish: &ledger.Finish{Status: run.Completed, Outcome: run.Outcome{Answer: answer}}})
	return r
}

// spoken are the turns of a session as short text.
func (w *world) spoken(key run.SessionKey, most run.MemoryBounds) string {
	w.Helper()
	turns, err := w.Turns(w.Context(), key, most)
	w.must(err)
	var all []string
	for _, turn := range turns {
		all = append(all, fmt.Sprintf("%s: %s > %s", turn.RunID, strings.Join(turn.Questions, "+"), turn.Answer))
	}
	return strings.Join(all, ", ")
}

var plenty = run.MemoryBounds{Turns: 100, Bytes: 1 << 20}

func completedRunIsATurn(w *world) {
	w.said("a", "", "It is a.", func(r *run.Run) {
		r.Request.Messages = []run.Message{
			{Role: run.User, Content: "old"},
			{Role: run.Assistant, Content: "older answer"},
			{Role: run.User, Content: "one"},
			{Role: run.System, Content: "rule"},
			{Role: run.User, Content: "two"},
		}
	})
	turns, err := w.Turns(w.Context(), session, plenty)
	w.must(err)
	w.same("turns", []run.Turn{{
		RunID: "a", Questions: []string{"one", "two"}, Answer: "It is a.", At: w.clock.Now(),
	}}, turns)
}

func turnsAreInOrder(w *world) {
	late := w.driven("late", inSession)
	w.said("b", "q2", "a2")
	w.clock.pass(time.Second)
	w.append(late, ledger.Batch{Finish: &ledger.Finish{Status: run.Completed, Outcome: run.Outcome{Answer: "a3"}}})
	w.same("turns", "b: q2 > a2, late:  > a3", w.spoken(session, plenty))
}

func onlyCompletedRunsAreTurns(w *world) {
	w.finish(w.driven("failed", inSession), run.Failed)
	w.finish(w.driven("cancelled", inSession), run.Cancelled)
	w.driven("running", inSession)
	w.queued("queued", inSession)
	w.parked("parked", 1, inSession)
	w.same("turns", "", w.spoken(session, plenty))
}

func sessionsAreApart(w *world) {
	w.said("mine", "q", "mine")
	w.said("user", "q", "user", func(r *run.Run) { r.Request.Identity.UserKey = "pska:other" })
	w.said("nobody", "q", "nobody", func(r *run.Run) { r.Request.Identity.UserKey = "" })
	w.said("tenant", "q", "tenant", func(r *run.Run) { r.Tenant = "other" })
	w.said("session", "q", "session", func(r *run.Run) { r.SessionID = "t" })
	for key, want := range map[run.SessionKey]string{
		session: "mine: q > mine",
		{Tenant: tenant, UserKey: "pska:other", SessionID: "s"}:   "user: q > user",
		{Tenant: tenant, SessionID: "s"}:                          "nobody: q > nobody",
		{Tenant: "other", UserKey: "pska:user", SessionID: "s"}:   "tenant: q > tenant",
		{Tenant: tenant, UserKey: "pska:user", SessionID: "t"}:    "session: q > session",
		{Tenant: "other", SessionID: "s"}:                         "",
		{UserKey: "pska:user", SessionID: "s"}:                    "",
		{Tenant: tenant, UserKey: "pska:user", SessionID: "s%"}:   "",
		{Tenant: tenant, UserKey: "pska:user", SessionID: ""}:     "",
		{Tenant: "PSKA", UserKey: "pska:user", SessionID: "s"}:    "",
		{Tenant: "pska", UserKey: "pska:user ", SessionID: "s"}:   "",
		{Tenant: "pska", UserKey: "pska:user\x00", SessionID: ""}: "",
	} {
		w.same(fmt.Sprintf("turns of %+v", key), want, w.spoken(key, plenty))
	}
}

func newestTurnsAreKept(w *world) {
	for _, id := range []string{"a", "b", "c"} {
		w.said(id, "12345", "67890")
	}
	for most, want := range map[run.MemoryBounds]string{
		{Turns: 2, Bytes: 1000}: "b: 12345 > 67890, c: 12345 > 67890",
		{Turns: 9, Bytes: 29}:   "b: 12345 > 67890, c: 12345 > 67890",
		{Turns: 9, Bytes: 1}:    "c: 12345 > 67890",
		{Turns: 0, Bytes: 1000}: "",
	} {
		w.same(fmt.Sprintf("turns within %+v", most), want, w.spoken(session, most))
	}
}

func turnsSurvive(w *world) {
	w.said("a", "q", "a")
	w.reopen()
	w.same("turns", "a: q > a", w.spoken(session, plenty))
}

// ahead lists the ids of the unfinished runs before one.
func (w *world) ahead(id string) []string {
	w.Helper()
	refs, err := w.Ahead(w.Context(), session, id)
	w.must(err)
	names := []string{}
	for _, each := range refs {
		names = append(names, each.ID)
	}
	return names
}

func unfinishedRunsAreAhead(w *world) {
	w.said("over", "q", "a")
	w.queued("queued", inSession)
	w.driven("driven", inSession, chat)
	w.driven("other", func(r *run.Run) { r.SessionID, r.Request.Identity.UserKey = "s", "pska:other" })
	w.parked("parked", 1, inSession)
	w.queued("last", inSession)
	w.same("ahead of the last", []string{"queued", "driven", "parked"}, w.ahead("last"))
	w.same("ahead of the first", []string{}, w.ahead("queued"))
	w.same("ahead of all", []string{"queued", "driven", "parked", "last"}, w.ahead(""))
}

func inTurnIsClaimedLater(w *world) {
	first := w.driven("first", inSession, chat)
	w.queued("second", inTurn)
	w.queued("third", inTurn)
	<-w.Wake()
	w.nothing()
	w.finish(first, run.Failed)
	w.heard("the end of the run ahead", w.Wake())
	second := w.claim()
	w.same("claimed", "second", second.ID)
	w.nothing()
	w.finish(second, run.Completed)
	w.same("claimed", "third", w.claim().ID)
}

func inTurnWaitsForParked(w *world) {
	_, approvals := w.parked("first", 1, inSession)
	w.queued("second", inTurn)
	w.nothing()
	w.resolve(approvals[0].ID, run.Denied)
	first := w.claim()
	w.same("claimed", "first", first.ID)
	w.nothing()
	w.finish(first, run.Completed)
	w.same("claimed", "second", w.claim().ID)
}

func inTurnHoldsUpNobody(w *world) {
	w.driven("first", inSession, chat)
	w.queued("waits", inTurn)
	w.queued("other", func(r *run.Run) { r.Request.Multitask = run.Enqueue })
	w.queued("beside", inSession)
	w.same("claimed", []string{"other", "beside"}, ids([]run.Run{w.claim(), w.claim()}))
	w.nothing()
}
