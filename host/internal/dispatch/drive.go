package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// concludeTimeout bounds the last batch of a run whose own context is over.
const concludeTimeout = 10 * time.Second

// converse drives a chat run to its end; while it is parked, only this goroutine and the connection wait. A run that
// waits for a person gives its place back, and goes on at once when it is answered, whoever has the places by then: it
// was let in before them, and some of them may wait for it.
func (d *Dispatcher) converse(ctx context.Context, r run.Run, leave func()) {
	for {
		parked := d.drive(ctx, r)
		if !parked {
			return
		}
		leave()
		next, err := d.awaitReady(ctx, r.Ref)
		if err != nil {
			d.abandon(r.Ref, err)
			return
		}
		r = next
	}
}

// drive goes on with a run once and reports whether it is parked. Whatever ends the drive otherwise, the run is
// terminal afterwards or belongs to a later claim.
func (d *Dispatcher) drive(ctx context.Context, r run.Run) (parked bool) {
	timed, stop := context.WithTimeoutCause(ctx, d.timeout(r), errTimeout)
	defer stop()
	outcome, err := d.cfg.Driver.Drive(timed, r)
	switch {
	case err == nil:
		return outcome == agent.Parked
	case errors.Is(err, ledger.ErrFenced):
		d.cfg.Log.Warn("run belongs to a later claim", slog.String("run_id", r.ID))
		return false
	}
	if cause := context.Cause(timed); cause != nil {
		err = cause
	} else {
		d.cfg.Log.Error("run cannot be driven further", slog.String("run_id", r.ID), slog.Any("error", err))
	}
	d.conclude(r, err)
	return false
}

// timeout is how long one drive of a run may take: what its request says, where that is less than any run may.
func (d *Dispatcher) timeout(r run.Run) time.Duration {
	if asked := r.Request.RunTimeout; asked > 0 {
		return min(asked, d.cfg.RunTimeout)
	}
	return d.cfg.RunTimeout
}

// awaitReady waits until every approval of a parked run is settled and takes the run again.
func (d *Dispatcher) awaitReady(ctx context.Context, ref run.Ref) (run.Run, error) {
	err := d.watch(ctx, ref, func() (bool, error) {
		r, err := d.cfg.Store.Run(ctx, ref)
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			return false, fmt.Errorf("look at parked run: %w", err)
		case r.Cancel != "":
			return false, cancelled{r.Cancel}
		}
		return r.Phase != run.AwaitingApproval, nil
	})
	if err != nil {
		return run.Run{}, err
	}
	return d.cfg.Store.Seize(ctx, ref, d.cfg.Owner)
}

// watch looks at a run, again whenever something may have happened to it, until it has seen enough or ctx ends.
func (d *Dispatcher) watch(ctx context.Context, ref run.Ref, look func() (enough bool, err error)) error {
	notice, stop := d.cfg.Store.Watch(ref)
	defer stop()
	poll := time.NewTicker(d.cfg.Poll)
	defer poll.Stop()
	for {
		if enough, err := look(); enough || err != nil {
			return err
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endingOf says how a run ends for a cause, in words that are safe to show.
func endingOf(cause error) agent.Ending {
	var c cancelled
	switch {
	case errors.As(cause, &c):
		return agent.Ending{Status: run.Cancelled, Code: run.CodeCancelled, Reason: c.reason}
	case errors.Is(cause, errDraining), errors.Is(cause, errInterrupted):
		return agent.Ending{
			Status: run.Failed, Code: run.CodeInterrupted, Reason: "interrupted",
			Text: "The service stopped before this run was finished.",
		}
	case errors.Is(cause, errTimeout):
		return agent.Ending{
			Status: run.Failed, Code: run.CodeTimeout, Reason: "timeout",
			Text: "The run took longer than it may.",
		}
	}
	code, sentence := run.Public(cause)
	return agent.Ending{Status: run.Failed, Code: code, Reason: string(code), Text: sentence}
}
