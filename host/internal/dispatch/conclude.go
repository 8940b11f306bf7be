package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// abandon ends a run that nobody drives.
func (d *Dispatcher) abandon(ref run.Ref, cause error) {
	var taken *run.Run
	d.insist(ref, func() error {
		if taken != nil {
			return d.writeEnd(*taken, cause)
		}
		ctx, stop := context.WithTimeout(context.Background(), concludeTimeout)
		defer stop()
		r, err := d.cfg.Store.Seize(ctx, ref, d.cfg.Owner)
		switch {
		case errors.Is(err, ledger.ErrOwned), errors.Is(err, ledger.ErrFenced):
			return nil // somebody else ends it, or it is over
		case err != nil:
			return err
		}
		taken = &r
		return d.writeEnd(r, cause)
	})
}

// conclude writes the end of a run that this incarnation owns.
func (d *Dispatcher) conclude(r run.Run, cause error) {
	d.insist(r.Ref, func() error { return d.writeEnd(r, cause) })
}

func (d *Dispatcher) writeEnd(r run.Run, cause error) error {
	ctx, stop := context.WithTimeout(context.Background(), concludeTimeout)
	defer stop()
	err := d.cfg.Driver.Conclude(ctx, r, endingOf(cause))
	if errors.Is(err, ledger.ErrFenced) {
		return nil
	}
	return err
}

// insist ends a run now, or, while the store takes nothing, as soon as it does again: nobody else would, and its
// readers wait for the end. When the service stops before, the next one's Recover ends the run.
func (d *Dispatcher) insist(ref run.Ref, end func() error) {
	err := end()
	if err == nil {
		return
	}
	d.cfg.Log.Error("cannot write the end of run; trying again", slog.String("run_id", ref.ID), slog.Any("error", err))
	if !d.begin() {
		return
	}
	go func() {
		defer d.drives.Done()
		again := time.NewTicker(d.cfg.Poll)
		defer again.Stop()
		for {
			select {
			case <-d.base.Done():
				return
			case <-again.C:
			}
			if end() == nil {
				d.cfg.Log.Info("end of run written at last", slog.String("run_id", ref.ID))
				return
			}
		}
	}()
}
