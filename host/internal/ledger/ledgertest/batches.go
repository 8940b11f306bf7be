package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func batchFacts() []fact {
	return []fact{
		{"BatchIsStoredWholeOrNotAtAll", batchIsWholeOrNothing},
		{"FailingBatchSparesThoseBesideIt", failingBatchSparesOthers},
		{"BatchEndsItsClaimInOneWayOnly", batchEndsOneWay},
		{"EmptyBatchProvesTheFence", emptyBatchProvesTheFence},
		{"FinishedRunKeepsItsOutcome", finishedRunKeepsOutcome},
		{"RunThatNeverBeganCannotComplete", queuedCannotComplete},
		{"RunCannotFinishAsRunning", cannotFinishAsRunning},
		{"FinishLeavesNoApprovalPending", finishLeavesNothingPending},
		{"SettleSettlesWhatIsPendingOfTheRun", settleSettlesPending},
		{"SettleNeverApproves", settleNeverApproves},
		{"ApprovalIsOpenedPending", approvalIsOpenedPending},
	}
}

func batchIsWholeOrNothing(w *world) {
	first, taken := w.parked("first", 1)
	r := w.driven("r")
	want := w.get(r.Ref)
	_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{
		Events:    []run.Event{think("a"), think("b")},
		Audits:    []run.Audit{{Stage: run.Decided}},
		Approvals: []run.Approval{w.approval(r, 0), taken[0]},
		Finish:    &ledger.Finish{Status: run.Completed},
	})
	w.refused(err, ledger.ErrExists)
	w.same("run", want, w.get(r.Ref))
	w.same("events", 0, w.gapless(r.Ref))
	audits, err := w.Audits(w.Context(), nil, 0, 10)
	w.must(err)
	w.same("audits", 0, len(audits))
	page, err := w.Approvals(w.Context(), run.ApprovalFilter{Limit: 10})
	w.must(err)
	w.same("approvals", 1, page.Total)
	w.same("run of the approval", first.Ref, page.Items[0].Run)
}

func failingBatchSparesOthers(w *world) {
	_, taken := w.parked("first", 1)
	good, bad := w.driven("good"), w.driven("bad")
	together(16, func(i int) {
		for range 10 {
			if i%2 == 0 {
				if _, err := w.Append(w.Context(), good.Fence(), ledger.Batch{Events: []run.Event{think("x")}}); err != nil {
					w.Error(err)
				}
				continue
			}
			_, err := w.Append(w.Context(), bad.Fence(), ledger.Batch{Events: []run.Event{think("x")}, Approvals: taken})
			if err == nil {
				w.Error("an approval was stored twice")
			}
		}
	})
	w.same("events of the good one", 80, w.gapless(good.Ref))
	w.same("events of the bad one", 0, w.gapless(bad.Ref))
}

func batchEndsOneWay(w *world) {
	r := w.driven("r")
	_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Park: true, Release: true})
	if err == nil {
		w.Error("parked and released at once")
	}
	w.append(r, ledger.Batch{})
}

func emptyBatchProvesTheFence(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{})
	w.finish(r, run.Completed)
	_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{})
	w.refused(err, ledger.ErrFenced)
}

func finishedRunKeepsOutcome(w *world) {
	r := w.driven("r")
	w.clock.pass(time.Minute)
	now := w.clock.Now()
	want := w.get(r.Ref)
	want.Status, want.Owner, want.LeaseUntil, want.FinishedAt, want.NextSeq = run.Failed, "", nil, &now, 1
	want.Outcome = run.Outcome{
		Answer: "a\x00<b>", StopReason: "error", ErrorCode: "internal_error", Error: "Something broke.",
		Usage: &run.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3}, ToolCalls: map[string]int{"exec": 2},
		Approvals: 1, PolicyHash: "sha256:p",
	}
	w.append(r, ledger.Batch{
		Events: []run.Event{{Kind: run.Errored}}, Finish: &ledger.Finish{Status: run.Failed, Outcome: want.Outcome},
	})
	w.same("run", want, w.get(r.Ref))
}

func queuedCannotComplete(w *world) {
	r := w.queued("r")
	_, err := w.Cancel(w.Context(), r.Ref, ledger.Cancellation{Close: &ledger.Closing{
		Batch: ledger.Batch{Finish: &ledger.Finish{Status: run.Completed}},
	}})
	if err == nil {
		w.Error("a run completed that never ran")
	}
	w.same("run", r, w.get(r.Ref))
}

func cannotFinishAsRunning(w *world) {
	r := w.driven("r")
	if _, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Finish: &ledger.Finish{Status: run.Running}}); err == nil {
		w.Error("finished as running")
	}
}

func finishLeavesNothingPending(w *world) {
	r, approvals := w.asking("r", 2)
	w.resolve(approvals[0].ID, run.Approved)
	w.finish(r, run.Failed)
	for i, want := range []run.ApprovalStatus{run.Approved, run.ApprovalCancelled} {
		a, err := w.Approval(w.Context(), approvals[i].ID)
		w.must(err)
		w.same("status", want, a.Status)
	}
}

func settleSettlesPending(w *world) {
	r, approvals := w.asking("r", 2)
	_, others := w.parked("other", 1)
	w.resolve(approvals[0].ID, run.Denied)
	w.append(r, ledger.Batch{Settle: &run.Resolution{
		ID: others[0].ID, Status: run.ApprovalCancelled, Reason: "client_disconnected",
	}})
	for id, want := range map[string]run.ApprovalStatus{
		approvals[0].ID: run.Denied, approvals[1].ID: run.ApprovalCancelled, others[0].ID: run.Pending,
	} {
		a, err := w.Approval(w.Context(), id)
		w.must(err)
		w.same(id, want, a.Status)
	}
}

func settleNeverApproves(w *world) {
	r, _ := w.asking("r", 1)
	for _, status := range []run.ApprovalStatus{run.Approved, run.Pending, "", "granted"} {
		_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Settle: &run.Resolution{Status: status}})
		if err == nil {
			w.Errorf("settled as %q", status)
		}
	}
}

func approvalIsOpenedPending(w *world) {
	r := w.driven("r")
	a := w.approval(r, 0)
	a.Status = run.Approved
	if _, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Approvals: []run.Approval{a}}); err == nil {
		w.Error("opened approved")
	}
}
