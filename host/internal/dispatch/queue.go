package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// errInterrupted is the cause of runs that an earlier incarnation left behind.
var errInterrupted = errors.New("interrupted by a restart")

// Recover ends what earlier incarnations left: a cancelled run becomes cancelled, any other that nobody will drive
// again fails as interrupted. Queued runs and parked background runs stay. It must return before Serve is called.
func (d *Dispatcher) Recover(ctx context.Context) error {
	runs, err := d.cfg.Store.Adrift(ctx, d.cfg.Owner)
	if err != nil {
		return err
	}
	for _, r := range runs {
		var cause error = errInterrupted
		if r.Cancel != "" {
			cause = cancelled{r.Cancel}
		}
		d.abandon(r.Ref, cause)
	}
	if len(runs) > 0 {
		d.cfg.Log.Warn("runs of an earlier process ended", slog.Int("count", len(runs)))
	}
	return nil
}

// Serve claims background runs and drives them until ctx ends or Close is called. It returns when no new run will be
// claimed; Close waits for those under way.
func (d *Dispatcher) Serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d.works <- struct{}{}:
		}
		claimed, ok := d.claim(ctx)
		if !ok {
			<-d.works
			return
		}
		if !d.begin() {
			<-d.works
			d.abandon(claimed.Ref, errDraining)
			return
		}
		go d.work(claimed)
	}
}

// begin counts one more drive unless the dispatcher is closed.
func (d *Dispatcher) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.drives.Add(1)
	return true
}

// claim waits for a run to drive. ok is false when ctx ended.
func (d *Dispatcher) claim(ctx context.Context) (r run.Run, ok bool) {
	poll := time.NewTicker(d.cfg.Poll)
	defer poll.Stop()
	for {
		if ctx.Err() != nil {
			return run.Run{}, false
		}
		r, err := d.cfg.Store.Claim(ctx, d.cfg.Owner)
		if err == nil {
			return r, true
		}
		if !errors.Is(err, ledger.ErrEmpty) && ctx.Err() == nil {
			d.cfg.Log.Error("cannot claim a run", slog.Any("error", err))
		}
		select {
		case <-d.cfg.Store.Wake():
		case <-poll.C:
		case <-ctx.Done():
			return run.Run{}, false
		}
	}
}

// work drives one claimed background run until it is finished or parked, and gives its place back.
func (d *Dispatcher) work(r run.Run) {
	defer d.drives.Done()
	defer func() { <-d.works }()
	ctx, _ := d.register(r.Ref)
	parked := d.drive(ctx, r)
	d.forget(r.Ref)
	if parked {
		d.settleCancel(r.Ref)
	}
}

// settleCancel ends a run that was cancelled in the moment it parked, when no drive was left to notice.
func (d *Dispatcher) settleCancel(ref run.Ref) {
	ctx, stop := context.WithTimeout(context.Background(), concludeTimeout)
	defer stop()
	r, err := d.cfg.Store.Run(ctx, ref)
	if err != nil {
		d.cfg.Log.Error("cannot look at parked run", slog.String("run_id", ref.ID), slog.Any("error", err))
		return
	}
	if r.Cancel != "" && !r.Status.Terminal() {
		d.abandon(ref, cancelled{r.Cancel})
	}
}
