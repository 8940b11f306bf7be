package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// cancelPatience is how long Cancel waits to return a run that is already terminal.
const cancelPatience = 2 * time.Second

// closeTries is how often a run that moves on is tried to be closed. The duty "adrift" closes what was missed.
const closeTries = 3

// Cancel records the wish to cancel and makes it true: a run that nobody drives ends at once, in the same transaction,
// and who drives it is told, in this process now and in another one within a second. It returns the run as it is after
// at most two seconds; a terminal run is returned unchanged. A key that was used for something else is CodeKeyReused.
func (d *Dispatcher) Cancel(ctx context.Context, ref run.Ref, reason string, key run.Idempotency) (run.Run, error) {
	notice, stop := d.cfg.Store.Watch(ref)
	defer stop()
	r, err := d.stop(ctx, ref, reason, key)
	if err != nil || r.Status.Terminal() {
		return r, err
	}
	return d.awaitTerminal(ctx, ref, notice)
}

// stop records the wish and ends a run that nobody drives. One that is driven here is told.
func (d *Dispatcher) stop(ctx context.Context, ref run.Ref, reason string, key run.Idempotency) (r run.Run, err error) {
	for range closeTries {
		r, err = d.cfg.Store.Run(ctx, ref)
		if err != nil {
			return run.Run{}, fmt.Errorf("look at run to cancel: %w", err)
		}
		wish := ledger.Cancellation{Reason: reason, Idempotency: key, Close: d.closingOf(ctx, r, reason)}
		r, err = d.cfg.Store.Cancel(ctx, ref, wish)
		if err != nil {
			return run.Run{}, fmt.Errorf("record cancel: %w", err)
		}
		if r.Status.Terminal() || d.tell(ref, cancelled{r.Cancel}) || d.driven(ctx, r) {
			break
		}
	}
	return r, nil
}

// closingOf makes the end of a run that nobody drives; nil for any other, and when it cannot be made.
func (d *Dispatcher) closingOf(ctx context.Context, r run.Run, reason string) *ledger.Closing {
	if r.Status.Terminal() || d.driven(ctx, r) {
		return nil
	}
	if r.Cancel != "" {
		reason = r.Cancel // the first one stays
	}
	if reason == "" {
		reason = string(run.CodeCancelled)
	}
	batch, err := d.cfg.Driver.Ending(ctx, r, endingOf(cancelled{reason}))
	if err != nil {
		d.cfg.Log.Error("cannot make the end of a cancelled run", slog.String("run_id", r.ID), slog.Any("error", err))
		return nil
	}
	if batch.Finish == nil {
		return nil
	}
	return &ledger.Closing{NextSeq: r.NextSeq, Batch: batch}
}

// driven reports whether a run has an owner whose lease lasts.
func (d *Dispatcher) driven(ctx context.Context, r run.Run) bool {
	if r.Owner == "" || r.LeaseUntil == nil {
		return false
	}
	now, err := d.cfg.Store.Now(ctx)
	return err != nil || r.LeaseUntil.After(now)
}

// tell ends the drive of a live run and reports whether there was one.
func (d *Dispatcher) tell(ref run.Ref, cause error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, live := d.live[ref]
	if live {
		v.cancel(cause)
	}
	return live
}

func (d *Dispatcher) awaitTerminal(ctx context.Context, ref run.Ref, notice <-chan struct{}) (run.Run, error) {
	patience := time.NewTimer(cancelPatience)
	defer patience.Stop()
	poll := time.NewTicker(d.cfg.Poll)
	defer poll.Stop()
	for {
		r, err := d.cfg.Store.Run(ctx, ref)
		if err != nil || r.Status.Terminal() {
			return r, err
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-patience.C:
			return r, nil
		case <-ctx.Done():
			return r, nil
		}
	}
}

// adriftDuty is the name of the duty to end cancelled runs whose owner is gone.
const adriftDuty = "adrift"

// adriftBatch is how many of them are ended at a time.
const adriftBatch = 64

// sweep ends, again and again until ctx ends, cancelled runs that nobody drives: their owner died after the wish was
// recorded. It is a duty: one process at a time does it.
func (d *Dispatcher) sweep(ctx context.Context) {
	again := time.NewTicker(max(d.cfg.Poll, d.cfg.Lease/3))
	defer again.Stop()
	for {
		if err := d.endAdrift(ctx); err != nil && ctx.Err() == nil {
			d.cfg.Log.Error("cannot end cancelled runs", slog.Any("error", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

func (d *Dispatcher) endAdrift(ctx context.Context) error {
	runs, err := d.cfg.Store.Adrift(ctx, adriftBatch)
	if err != nil {
		return err
	}
	for _, r := range runs {
		_, problem := d.stop(ctx, r.Ref, r.Cancel, run.Idempotency{})
		err = errors.Join(err, problem)
	}
	return err
}
