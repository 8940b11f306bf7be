package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func bookFacts() []fact {
	return []fact{
		{"AuditReadsBackWhole", auditReadsBack},
		{"AuditsAreInOrderAndByRun", auditsAreInOrder},
		{"AuditSequenceIsNeverGivenTwice", auditSequenceIsUnique},
		{"EmptyLedgerCountsNothing", emptyLedgerCountsNothing},
		{"StatsOfATenantAndAUserCountNobodyElses", statsOfAUser},
		{"StatsCountEverythingOnce", statsCount},
		{"RecentErrorsAreTheFiveNewest", recentErrors},
		{"PingSucceeds", func(w *world) { w.must(w.Ping(w.Context())) }},
	}
}

func (w *world) audits(of *run.Ref, after int64, limit int) []run.Audit {
	w.Helper()
	audits, err := w.Audits(w.Context(), of, after, limit)
	w.must(err)
	return audits
}

func auditReadsBack(w *world) {
	r := w.driven("r")
	want := run.Audit{
		At: w.clock.Now(), Stage: run.Decided, Run: r.Ref, CallID: "call-1", UserKey: "pska:user", Tool: "exec",
		ToolDigest: "sha256:t", ArgsDigest: "sha256:a", Decision: []byte(`{"action": "allow", "n": 1.0}`),
		ApprovalID: "approval-1", Dispatched: true, IsError: true, ResultDigest: "sha256:r", Duration: 1500, Gas: 77,
	}
	w.append(r, ledger.Batch{Audits: []run.Audit{want}})
	got := w.audits(nil, 0, 10)
	want.Sequence = got[0].Sequence
	w.same("audits", []run.Audit{want}, got)
}

func auditsAreInOrder(w *world) {
	a, b := w.driven("a"), w.driven("b")
	for _, call := range []struct {
		r  run.Run
		id string
	}{{a, "1"}, {b, "2"}, {a, "3"}} {
		w.append(call.r, ledger.Batch{Audits: []run.Audit{{Stage: run.Decided, CallID: call.id}}})
	}
	calls := func(audits []run.Audit) (names []string) {
		for _, audit := range audits {
			names = append(names, audit.CallID)
		}
		return names
	}
	all := w.audits(nil, 0, 10)
	w.same("all", []string{"1", "2", "3"}, calls(all))
	w.same("of one run", []string{"1", "3"}, calls(w.audits(&a.Ref, 0, 10)))
	w.same("after the first", []string{"2"}, calls(w.audits(nil, all[0].Sequence, 1)))
	w.same("of another tenant", []string(nil), calls(w.audits(&run.Ref{ID: "a"}, 0, 10)))
}

func auditSequenceIsUnique(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{
		Audits: []run.Audit{{Stage: run.Decided}}, Finish: &ledger.Finish{Status: run.Completed},
	})
	before := w.audits(nil, 0, 10)[0].Sequence
	w.prune(time.Hour, 10)
	next := w.driven("next")
	w.append(next, ledger.Batch{Audits: []run.Audit{{Stage: run.Decided}}})
	if after := w.audits(nil, 0, 10)[0].Sequence; after <= before {
		w.Errorf("sequence %d after %d", after, before)
	}
}

func emptyLedgerCountsNothing(w *world) {
	s, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	w.same("events, errors, audits", []int{0, 0, 0}, []int{s.Events, s.ErrorEvents, s.Audits})
	w.same("durations", []time.Duration{0, 0, 0}, []time.Duration{s.AvgRunDuration, s.AvgToolDuration, s.AvgResolution})
	w.same("recent errors", 0, len(s.RecentErrors))
}

func statsOfAUser(w *world) {
	w.busy()
	other := run.TenantKey("other")
	stranger, _ := w.parked("stranger", 1, func(r *run.Run) {
		r.Tenant, r.Request.Identity.UserKey, r.Request.Identity.TenantKey = other, "other:ann", "other"
	})
	colleague := w.driven("colleague", func(r *run.Run) { r.Request.Identity.UserKey = "pska:colleague" })
	w.append(colleague, ledger.Batch{
		Events: []run.Event{think("x"), {Kind: run.Errored}}, Audits: []run.Audit{{Stage: run.Decided}},
		Finish: &ledger.Finish{Status: run.Failed, Outcome: run.Outcome{ErrorCode: "c", Error: "Broke."}},
	})
	count := func(of run.Filter) []int {
		s, err := w.Stats(w.Context(), of)
		w.must(err)
		runs, approvals := 0, 0
		for _, n := range s.RunsByStatus {
			runs += n
		}
		for _, n := range s.ApprovalsByStatus {
			approvals += n
		}
		return []int{runs, s.Events, s.ErrorEvents, s.Audits, approvals, len(s.RecentErrors)}
	}
	mine := tenant
	w.same("of the tenant", []int{5, 6, 2, 2, 2, 2}, count(run.Filter{Tenant: &mine}))
	w.same("of one user", []int{1, 2, 1, 1, 0, 1}, count(run.Filter{Tenant: &mine, UserKey: "pska:colleague"}))
	w.same("of another tenant", []int{1, 0, 0, 0, 1, 0}, count(run.Filter{Tenant: &stranger.Tenant}))
}

// busy fills a ledger: four runs, four events, three audits, two approvals.
func (w *world) busy() {
	w.queued("waits")
	done, failed := w.driven("done"), w.driven("failed")
	w.append(done, ledger.Batch{
		Events: []run.Event{think("x"), {Kind: run.Errored}},
		Audits: []run.Audit{
			{Stage: run.Decided},
			{Stage: run.Ended, Duration: 2 * time.Second},
			{Stage: run.Ended, Duration: 4 * time.Second},
		},
	})
	usage := &run.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3}
	end := func(r run.Run, status run.Status) {
		start := w.get(r.Ref).StartedAt
		w.clock.pass(10*time.Second - w.clock.Now().Sub(*start))
		w.append(r, ledger.Batch{
			Events: []run.Event{think("x")},
			Finish: &ledger.Finish{Status: status, Outcome: run.Outcome{Usage: usage, ErrorCode: "c", Error: "Broke."}},
		})
	}
	end(done, run.Completed)
	end(failed, run.Failed)
	_, approvals := w.parked("parked", 2)
	w.clock.pass(approvals[0].CreatedAt.Add(30 * time.Second).Sub(w.clock.Now()))
	w.resolve(approvals[0].ID, run.Approved)
}

func statsCount(w *world) {
	w.busy()
	got, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	failed := w.get(ref("failed"))
	for name, stream := range got.Streams {
		if stream.Bytes <= 0 {
			w.Errorf("stream %s has %d bytes", name, stream.Bytes)
		}
		got.Streams[name] = ledger.Stream{Records: stream.Records}
	}
	w.same("stats", ledger.Stats{
		RunsByStatus:      map[run.Status]int{run.Queued: 1, run.Running: 1, run.Completed: 1, run.Failed: 1},
		AvgRunDuration:    10 * time.Second,
		Events:            4,
		ErrorEvents:       1,
		RecentErrors:      []ledger.RecentError{{Run: failed.Ref, At: *failed.FinishedAt, Code: "c", Text: "Broke."}},
		Audits:            1,
		AvgToolDuration:   3 * time.Second,
		ApprovalsByStatus: map[run.ApprovalStatus]int{run.Approved: 1, run.Pending: 1},
		AvgResolution:     30 * time.Second,
		Usage:             run.Usage{PromptTokens: 2, CompletionTokens: 4, TotalTokens: 6},
		Streams: map[string]ledger.Stream{
			"runs": {Records: 4}, "events": {Records: 4}, "audits": {Records: 3}, "approvals": {Records: 2},
		},
	}, got)
}

func recentErrors(w *world) {
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		w.finish(w.driven(id), run.Failed)
	}
	s, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	var got []string
	for _, e := range s.RecentErrors {
		got = append(got, e.Run.ID)
	}
	w.same("runs", []string{"f", "e", "d", "c", "b"}, got)
}
