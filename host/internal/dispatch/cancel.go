package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// cancelPatience is how long Cancel waits to return a run that is already terminal.
const cancelPatience = 2 * time.Second

// Cancel records the wish to cancel and makes it true: a driven run is told to stop, any other ends at once. It
// returns the run as it is after at most two seconds; a terminal run is returned unchanged.
func (d *Dispatcher) Cancel(ctx context.Context, ref run.Ref, reason string) (run.Run, error) {
	notice, stop := d.cfg.Store.Watch(ref)
	defer stop()
	r, err := d.stop(ctx, ref, reason)
	if err != nil || r.Status.Terminal() {
		return r, err
	}
	return d.awaitTerminal(ctx, ref, notice)
}

// stop records the wish and tells whoever drives the run; one that nobody drives ends here.
func (d *Dispatcher) stop(ctx context.Context, ref run.Ref, reason string) (run.Run, error) {
	r, err := d.cfg.Store.Cancel(ctx, ref, reason)
	if err != nil {
		return run.Run{}, fmt.Errorf("record cancel: %w", err)
	}
	if !r.Status.Terminal() && !d.tell(ref, cancelled{r.Cancel}) {
		d.abandon(ref, cancelled{r.Cancel})
	}
	return r, nil
}

// tell ends the drive of a live run and reports whether there was one.
func (d *Dispatcher) tell(ref run.Ref, cause error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	cancel, live := d.live[ref]
	if live {
		cancel(cause)
	}
	return live
}

func (d *Dispatcher) awaitTerminal(ctx context.Context, ref run.Ref, notice <-chan struct{}) (run.Run, error) {
	patience := time.NewTimer(cancelPatience)
	defer patience.Stop()
	for {
		r, err := d.cfg.Store.Run(ctx, ref)
		if err != nil || r.Status.Terminal() {
			return r, err
		}
		select {
		case <-notice:
		case <-patience.C:
			return r, nil
		case <-ctx.Done():
			return r, nil
		}
	}
}
