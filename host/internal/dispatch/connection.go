package dispatch

import (
	"context"
	"log/slog"

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

// hangUp cancels a run whose client left, unless it is over. While the service stops it is the service that leaves.
func (d *Dispatcher) hangUp(ref run.Ref) {
	if !d.begin() {
		return
	}
	defer d.drives.Done()
	ctx, stop := context.WithTimeout(d.base, writeTimeout)
	defer stop()
	r, err := d.cfg.Store.Run(ctx, ref)
	if err == nil && r.Status.Terminal() {
		return
	}
	if err == nil {
		_, err = d.stop(ctx, ref, disconnected, run.Idempotency{})
	}
	if err != nil {
		d.cfg.Log.Warn("cannot record that the client left", slog.String("run_id", ref.ID), slog.Any("error", err))
		d.tell(ref, cancelled{disconnected})
	}
}
