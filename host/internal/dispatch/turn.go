package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// interrupted is the reason of runs that a later one of their session cancelled.
const interrupted = "interrupted_by_next_run"

// interrupt ends the earlier runs of the session when the request says so. That they are cancelled was stored with the
// run; here those that are driven are told, and the others end at once.
func (d *Dispatcher) interrupt(ctx context.Context, r run.Run) {
	if r.Request.Multitask != run.Interrupt {
		return
	}
	ahead, err := d.cfg.Store.Ahead(ctx, r.SessionKey(), r.ID)
	for _, ref := range ahead {
		_, stopped := d.stop(ctx, ref, interrupted, run.Idempotency{})
		err = errors.Join(err, stopped)
	}
	if err != nil { // the run waits for them instead
		d.cfg.Log.Error("cannot interrupt session", slog.String("run_id", r.ID), slog.Any("error", err))
	}
}

// awaitTurn waits until the earlier runs of the session are over, at most as long as a run may take. A run that waits
// for a person is not over, and nobody waits longer for it than for any other.
func (d *Dispatcher) awaitTurn(ctx context.Context, r run.Run) error {
	if !r.Request.Multitask.Waits() {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, d.timeout(r), errTimeout)
	defer stop()
	d.interrupt(ctx, r)
	ahead, err := d.ahead(ctx, r)
	for _, ref := range ahead { // no later run can get ahead
		err = errors.Join(err, d.awaitEnd(ctx, ref))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// ahead lists the runs that are to be over before a run begins, as soon as the store tells.
func (d *Dispatcher) ahead(ctx context.Context, r run.Run) ([]run.Ref, error) {
	again := time.NewTicker(d.cfg.Poll)
	defer again.Stop()
	for {
		refs, err := d.cfg.Store.Ahead(ctx, r.SessionKey(), r.ID)
		if err == nil || !run.IsCode(err, run.CodeStore) {
			return refs, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// awaitEnd waits until a run is over. While the store is away nobody can tell.
func (d *Dispatcher) awaitEnd(ctx context.Context, ref run.Ref) error {
	notice, stop := d.cfg.Store.Watch(ref)
	defer stop()
	poll := time.NewTicker(d.cfg.Poll)
	defer poll.Stop()
	for {
		r, err := d.cfg.Store.Run(ctx, ref)
		switch {
		case errors.Is(err, ledger.ErrUnknown):
			return nil // it was removed, so it is over
		case err != nil && !run.IsCode(err, run.CodeStore):
			return err
		case err == nil && r.Status.Terminal():
			return nil
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
