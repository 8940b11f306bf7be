package ledgertest

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func approvalFacts() []fact {
	return []fact{
		{"OpenedApprovalReadsBackWhole", openedApprovalReadsBack},
		{"WhatIsNoTextIsKeptOrReplaced", nulInAReason},
		{"UnknownApprovalIsNotFoundInPublicWords", unknownApprovalIsNotFound},
		{"FiltersSelectApprovals", filtersSelectApprovals},
		{"ApprovalsComeInPages", approvalsComeInPages},
		{"ApprovalsOfARunKeepTheirOrderWhenTheClockIsSetBack", approvalsKeepTheirOrder},
		{"RunParkedWithoutAQuestionIsReady", parkedWithoutQuestionIsReady},
	}
}

func openedApprovalReadsBack(w *world) {
	r := w.driven("r")
	want := w.approval(r, 0)
	want.Reason = "a b <ü> \u2028"
	w.append(r, ledger.Batch{Approvals: []run.Approval{want}})
	got, err := w.Approval(w.Context(), want.ID)
	w.must(err)
	w.same("approval", want, got)
}

// nulInAReason: not every database takes a NUL in a text.
func nulInAReason(w *world) {
	r := w.driven("r")
	a := w.approval(r, 0)
	a.Reason = "a\x00b\xff"
	w.append(r, ledger.Batch{Approvals: []run.Approval{a}})
	got, err := w.Approval(w.Context(), a.ID)
	w.must(err)
	if got.Reason != a.Reason && got.Reason != "a\ufffdb\ufffd" {
		w.Errorf("reason %q", got.Reason)
	}
}

func unknownApprovalIsNotFound(w *world) {
	_, err := w.Approval(w.Context(), "approval-x")
	w.refused(err, ledger.ErrUnknown)
	code, sentence := run.Public(err)
	w.same("public face", []string{"not_found", "Approval not found"}, []string{string(code), sentence})
	_, _, err = w.Resolve(w.Context(), run.Resolution{ID: "approval-x", Status: run.Approved})
	w.refused(err, ledger.ErrUnknown)
}

// list demands which approvals a filter selects, in order.
func (w *world) list(filter run.ApprovalFilter, total int, want ...string) {
	w.Helper()
	page, err := w.Approvals(w.Context(), filter)
	w.must(err)
	var got []string
	for _, a := range page.Items {
		got = append(got, a.ID)
	}
	w.same("approvals", want, got)
	w.same("total", total, page.Total)
}

func filtersSelectApprovals(w *world) {
	r, _ := w.parked("r", 2)
	elsewhere, _ := w.parked("r", 0, func(r *run.Run) { r.Tenant = "other" })
	other := w.approval(elsewhere, 7)
	other.SessionID, other.UserKey, other.ToolName, other.ID = "s", "u", "write_file", "approval-other"
	w.same("claimed", elsewhere.Ref, w.claim().Ref)
	w.append(w.get(elsewhere.Ref), ledger.Batch{Approvals: []run.Approval{other}, Park: true})
	w.resolve("approval-r-0", run.Denied)
	mine := tenant
	w.list(run.ApprovalFilter{}, 3, "approval-other", "approval-r-1", "approval-r-0")
	w.list(run.ApprovalFilter{Oldest: true}, 3, "approval-r-0", "approval-r-1", "approval-other")
	w.list(run.ApprovalFilter{Tenant: &mine}, 2, "approval-r-1", "approval-r-0")
	w.list(run.ApprovalFilter{Run: &r.Ref}, 2, "approval-r-1", "approval-r-0")
	w.list(run.ApprovalFilter{RunID: "r"}, 3, "approval-other", "approval-r-1", "approval-r-0")
	w.list(run.ApprovalFilter{ID: "approval-r-1"}, 1, "approval-r-1")
	w.list(run.ApprovalFilter{SessionID: "s"}, 1, "approval-other")
	w.list(run.ApprovalFilter{UserKey: "u"}, 1, "approval-other")
	w.list(run.ApprovalFilter{ToolName: "write_file"}, 1, "approval-other")
	w.list(run.ApprovalFilter{Status: run.Denied}, 1, "approval-r-0")
	w.list(run.ApprovalFilter{Status: run.Pending, Tenant: &mine}, 1, "approval-r-1")
	w.list(run.ApprovalFilter{Status: run.Expired}, 0)
}

func approvalsComeInPages(w *world) {
	w.parked("r", 5)
	w.list(run.ApprovalFilter{Limit: 2}, 5, "approval-r-4", "approval-r-3")
	w.list(run.ApprovalFilter{Limit: 2, Offset: 2}, 5, "approval-r-2", "approval-r-1")
	w.list(run.ApprovalFilter{Limit: 2, Offset: 4, Oldest: true}, 5, "approval-r-4")
	w.list(run.ApprovalFilter{Limit: 2, Offset: 5}, 5)
	w.list(run.ApprovalFilter{Offset: 3}, 5, "approval-r-1", "approval-r-0")
}

func parkedWithoutQuestionIsReady(w *world) {
	drain(w.Wake())
	r, _ := w.parked("r", 0)
	w.same("phase", run.Ready, w.get(r.Ref).Phase)
	w.heard("a ready run", w.Wake())
}

func approvalsKeepTheirOrder(w *world) {
	r := w.driven("r")
	for i := range 2 {
		w.append(r, ledger.Batch{Approvals: []run.Approval{w.approval(r, i)}})
		w.clock.pass(-time.Hour)
	}
	w.list(run.ApprovalFilter{Run: &r.Ref, Oldest: true}, 2, "approval-r-0", "approval-r-1")
	w.list(run.ApprovalFilter{Run: &r.Ref}, 2, "approval-r-1", "approval-r-0")
}
