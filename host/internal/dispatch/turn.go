package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// interrupted is the reason of runs that a later one of their session cancelled.
const interrupted = "interrupted_by_next_run"

// create stores a new run. One that refuses company is stored only while its session has no unfinished run; to look
// and to store are one step, so that of two such runs at once one is refused.
func (d *Dispatcher) create(ctx context.Context, r run.Run) error {
	if r.Request.Multitask != run.Reject {
		return d.cfg.Store.Create(ctx, r)
	}
	d.admitting.Lock()
	defer d.admitting.Unlock()
	ahead, err := d.cfg.Store.Ahead(ctx, r.SessionKey(), "")
	if err != nil {
		return fmt.Errorf("look into session: %w", err)
	}
	if len(ahead) > 0 {
		return &run.Error{
			Code: run.CodeSessionBusy, Op: "admit run", Sentence: "Another run of this session is not finished.",
		}
	}
	return d.cfg.Store.Create(ctx, r)
}

// interrupt cancels the earlier runs of the session when the request says so.
func (d *Dispatcher) interrupt(ctx context.Context, r run.Run) {
	if r.Request.Multitask != run.Interrupt {
		return
	}
	ahead, err := d.cfg.Store.Ahead(ctx, r.SessionKey(), r.ID)
	for _, ref := range ahead {
		_, stopped := d.stop(ctx, ref, interrupted)
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
	ahead, err := d.cfg.Store.Ahead(ctx, r.SessionKey(), r.ID)
	for _, ref := range ahead { // no later run can get ahead
		err = errors.Join(err, d.awaitEnd(ctx, ref))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// awaitEnd waits until a run is over.
func (d *Dispatcher) awaitEnd(ctx context.Context, ref run.Ref) error {
	return d.watch(ctx, ref, func() (bool, error) {
		r, err := d.cfg.Store.Run(ctx, ref)
		if errors.Is(err, ledger.ErrUnknown) {
			return true, nil // it was removed, so it is over
		}
		return r.Status.Terminal(), err
	})
}
