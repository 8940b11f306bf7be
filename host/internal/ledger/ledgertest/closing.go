package ledgertest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func closeFacts() []fact {
	return []fact{
		{"ReopenedLedgerKeepsEverything", reopenKeepsEverything},
		{"ClosedLedgerRefusesEveryCall", closedLedgerRefuses},
		{"WhatWasAcceptedBeforeCloseIsStored", acceptedIsStored},
		{"CloseTellsWatchers", closeTellsWatchers},
		{"EndedContextEndsEveryCallWithItsCause", endedContextEndsCalls},
	}
}

// everything is all that a ledger holds.
type everything struct {
	Runs      []run.Run
	Events    []run.Event
	Approvals []run.Approval
	Audits    []run.Audit
	Stats     ledger.Stats
}

func (w *world) everything() everything {
	w.Helper()
	runs, err := w.Runs(w.Context(), run.Filter{Limit: 100})
	w.must(err)
	approvals, err := w.Approvals(w.Context(), run.ApprovalFilter{Limit: 100})
	w.must(err)
	stats, err := w.Stats(w.Context(), run.Filter{})
	w.must(err)
	all := everything{Runs: runs.Items, Approvals: approvals.Items, Audits: w.audits(nil, 0, 100), Stats: stats}
	for _, r := range runs.Items {
		all.Events = append(all.Events, w.events(r.Ref)...)
	}
	return all
}

func reopenKeepsEverything(w *world) {
	w.busy()
	want := w.everything()
	w.reopen()
	w.same("content", want, w.everything(), cmpopts.IgnoreFields(run.Run{}, "LeaseUntil")) // a lease may end with its process
	w.append(w.claim(), ledger.Batch{Events: []run.Event{think("and on")}})
}

// calls are all methods that may fail, each on a run that exists.
func (w *world) calls(ctx context.Context, r run.Run) map[string]func() error {
	return map[string]func() error{
		"Create": func() error {
			_, err := w.Create(ctx, run.Run{Ref: ref("new"), Kind: run.Chat, Status: run.Queued}, ledger.Door{})
			return err
		},
		"Run":       func() error { _, err := w.Run(ctx, r.Ref); return err },
		"Runs":      func() error { _, err := w.Runs(ctx, run.Filter{}); return err },
		"Claim":     func() error { _, err := w.Claim(ctx, by(node)); return err },
		"Cancel":    func() error { _, err := w.Cancel(ctx, r.Ref, ledger.Cancellation{}); return err },
		"Adrift":    func() error { _, err := w.Adrift(ctx, 1); return err },
		"Renew":     func() error { _, err := w.Renew(ctx, ledger.Node{Owner: node, Lease: lease}, nil); return err },
		"Nodes":     func() error { _, err := w.Nodes(ctx); return err },
		"Depart":    func() error { return w.Depart(ctx, node) },
		"Take":      func() error { _, err := w.Take(ctx, "duty", by(node)); return err },
		"Now":       func() error { _, err := w.Now(ctx); return err },
		"Append":    func() error { _, err := w.Append(ctx, r.Fence(), ledger.Batch{}); return err },
		"Events":    func() error { _, err := w.Events(ctx, r.Ref, -1, 1); return err },
		"Approval":  func() error { _, err := w.Approval(ctx, "x"); return err },
		"Approvals": func() error { _, err := w.Approvals(ctx, run.ApprovalFilter{}); return err },
		"Resolve": func() error {
			_, _, err := w.Resolve(ctx, run.Resolution{ID: "x", Status: run.Denied})
			return err
		},
		"Research": func() error { _, err := w.Research(ctx, "x"); return err },
		"AddResearch": func() error {
			_, err := w.AddResearch(ctx, 0, run.ResearchEntry{Workspace: "x", Kind: run.ResearchPlan, Body: []byte(`{}`)})
			return err
		},
		"ResearchKeyed": func() error { _, err := w.ResearchKeyed(ctx, "x", "y"); return err },
		"Note":          func() error { return w.Note(ctx, run.Audit{Stage: run.Decided, Run: ref("turn")}) },
		"Audits":        func() error { _, err := w.Audits(ctx, nil, 0, 1); return err },
		"Stats":         func() error { _, err := w.Stats(ctx, run.Filter{}); return err },
		"Prune":         func() error { _, err := w.Prune(ctx, ledger.Retention{Runs: time.Hour}, 1); return err },
		"Ping":          func() error { return w.Ping(ctx) },
	}
}

func closedLedgerRefuses(w *world) {
	r := w.driven("r")
	w.must(w.Close())
	for name, call := range w.calls(w.Context(), r) {
		if err := call(); !errors.Is(err, ledger.ErrClosed) {
			w.Errorf("%s: %v, want %v", name, err, ledger.ErrClosed)
		}
	}
	w.refused(w.Close(), ledger.ErrClosed)
}

func acceptedIsStored(w *world) {
	r := w.driven("r")
	var stored atomic.Int64
	began := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(8, func(int) {
			for {
				_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Events: []run.Event{think("x")}})
				if err != nil {
					w.checkClosed(err)
					return
				}
				stored.Add(1)
				signal(began)
			}
		})
	}()
	<-began
	closing := w.Ledger
	w.must(closing.Close())
	<-done
	w.Ledger = w.open(w.T, w.clock.Now)
	w.same("events", int(stored.Load()), w.gapless(r.Ref))
}

func (w *world) checkClosed(err error) {
	if !errors.Is(err, ledger.ErrClosed) {
		w.Error(err)
	}
}

// signal leaves a value for whoever waits first.
func signal(began chan struct{}) {
	select {
	case began <- struct{}{}:
	default:
	}
}

func closeTellsWatchers(w *world) {
	r := w.driven("r")
	notice, stop := w.Watch(r.Ref)
	defer stop()
	drain(w.Wake())
	w.must(w.Close())
	w.heard("close, for watchers", notice)
	w.heard("close, for the dispatcher", w.Wake())
}

func endedContextEndsCalls(w *world) {
	r := w.driven("r")
	cause := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(w.Context())
	cancel(cause)
	for name, call := range w.calls(ctx, r) {
		if err := call(); !errors.Is(err, cause) {
			w.Errorf("%s: %v, want %v", name, err, cause)
		}
	}
}
