package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// finish does what is left to do about a run whose drive was stopped by a cause: nothing when it is not ours any more,
// hand it back when the service stops, and end it otherwise. It reports whether the run is over.
func (d *Dispatcher) finish(v *drive, r run.Run, cause error) (over bool) {
	switch {
	case lost(cause):
		d.noteLoss(r, cause)
	case errors.Is(cause, errDraining):
		d.handBack(v, r)
	default:
		return d.conclude(v, r, cause)
	}
	return false
}

// noteLoss counts a drive that found out that its run is another's. One that only could not renew does not know.
func (d *Dispatcher) noteLoss(r run.Run, cause error) {
	if !errors.Is(cause, errLost) {
		d.fenced.Add(1)
	}
	d.cfg.Log.Warn("run is not driven here any more", slog.String("run_id", r.ID), slog.Any("error", cause))
}

// handBack gives a run to whoever claims it next. When the store refuses, the run is claimed after its lease.
func (d *Dispatcher) handBack(v *drive, r run.Run) {
	ctx, stop := context.WithTimeout(v.lease, writeTimeout)
	defer stop()
	_, err := d.cfg.Store.Append(ctx, v.fence, ledger.Batch{Release: true})
	switch {
	case err == nil:
		d.released.Add(1)
		d.cfg.Log.Info("run handed back", slog.String("run_id", r.ID))
	case errors.Is(err, ledger.ErrFenced):
		d.noteLoss(r, err)
	default:
		d.cfg.Log.Error("cannot hand run back; its lease ends by itself", slog.String("run_id", r.ID), slog.Any("error", err))
	}
}

// conclude writes the end of a run, and while the store does not take it tries again as long as the run is ours. After
// that it is for whoever claims the run. It reports whether the end is written.
func (d *Dispatcher) conclude(v *drive, r run.Run, cause error) bool {
	again := time.NewTicker(d.cfg.Poll)
	defer again.Stop()
	for first := true; ; first = false {
		err := d.writeEnd(v, r, cause)
		switch {
		case err == nil:
			return true
		case errors.Is(err, ledger.ErrFenced):
			d.noteLoss(r, err)
			return false
		case first:
			d.cfg.Log.Error("cannot write the end of run; trying again", slog.String("run_id", r.ID), slog.Any("error", err))
		}
		select {
		case <-v.lease.Done():
			d.noteLoss(r, context.Cause(v.lease))
			return false
		case <-d.base.Done():
			return false
		case <-again.C:
		}
	}
}

func (d *Dispatcher) writeEnd(v *drive, r run.Run, cause error) error {
	ctx, stop := context.WithTimeout(v.lease, writeTimeout)
	defer stop()
	return d.cfg.Driver.Conclude(ctx, r, endingOf(cause))
}

// endingOf says how a run ends for a cause, in words that are safe to show.
func endingOf(cause error) agent.Ending {
	var c cancelled
	switch {
	case errors.As(cause, &c):
		return agent.Ending{Status: run.Cancelled, Code: run.CodeCancelled, Reason: c.reason}
	case errors.Is(cause, errTimeout):
		return agent.Ending{
			Status: run.Failed, Code: run.CodeTimeout, Reason: "timeout",
			Text: "The run took longer than it may.",
		}
	}
	code, sentence := run.Public(cause)
	return agent.Ending{Status: run.Failed, Code: code, Reason: string(code), Text: sentence}
}
