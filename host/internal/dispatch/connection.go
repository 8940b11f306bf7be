package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// disconnected is the reason of runs whose client left.
const disconnected = "client_disconnected"

// attend cancels a run when its connection ends first. It holds no goroutine, so it stays while the run is parked, and
// when another process drives it, until it is told to forget the run.
func (d *Dispatcher) attend(connection context.Context, r run.Run) (forget func() bool) {
	if r.Request.Detached {
		return func() bool { return true }
	}
	return context.AfterFunc(connection, func() { d.hangUp(r.Ref) })
}

// hangUp cancels a run whose client left, as soon as the store takes it. While the service stops it is the service that
// leaves.
func (d *Dispatcher) hangUp(ref run.Ref) {
	again := time.NewTicker(d.cfg.Poll)
	defer again.Stop()
	for first := true; d.begin(); first = false {
		err := d.cancelLeft(ref)
		d.drives.Done()
		if err != nil && first {
			d.cfg.Log.Warn("cannot record that the client left", slog.String("run_id", ref.ID), slog.Any("error", err))
			d.tell(ref, cancelled{disconnected})
		}
		if !run.IsCode(err, run.CodeStore) {
			return
		}
		<-again.C
	}
}

// cancelLeft cancels a run whose client left, unless it is over.
func (d *Dispatcher) cancelLeft(ref run.Ref) error {
	ctx, stop := context.WithTimeout(d.base, writeTimeout)
	defer stop()
	r, err := d.cfg.Store.Run(ctx, ref)
	if err == nil && !r.Status.Terminal() {
		_, err = d.stop(ctx, ref, disconnected, run.Idempotency{})
	}
	return err
}
