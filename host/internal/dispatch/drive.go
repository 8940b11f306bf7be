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

// writeTimeout bounds a write that must not end with whoever asked for it.
const writeTimeout = 10 * time.Second

// drive is one claim of a run in the hands of this process.
type drive struct {
	fence  run.Fence
	until  time.Time               // when its lease ends, on this machine's clock; belongs to the dispatcher's lock
	lease  context.Context         // ends when the run is, or may be, another's: nothing is written after that
	lose   context.CancelCauseFunc // ends lease
	work   context.Context         // ends with lease, and when the run was cancelled or the service stops
	cancel context.CancelCauseFunc // ends work
	unbind func() bool
	before *drive        // an earlier one of this process that is not over yet; nil: there is none
	done   chan struct{} // closed when nothing of it is left
}

// take makes the drive of a run that became ours when asked for. From now on its lease is renewed.
func (d *Dispatcher) take(r run.Run, asked time.Time) *drive {
	v := &drive{fence: r.Fence(), until: asked.Add(d.cfg.Lease), done: make(chan struct{})}
	v.lease, v.lose = context.WithCancelCause(context.Background())
	v.work, v.cancel = context.WithCancelCause(v.lease)
	v.unbind = context.AfterFunc(d.base, func() { v.cancel(errDraining) })
	d.mu.Lock()
	defer d.mu.Unlock()
	v.before = d.live[r.Ref]
	if v.before != nil {
		v.before.lose(errFenced)
	}
	d.live[r.Ref] = v
	return v
}

// drop ends a drive.
func (d *Dispatcher) drop(v *drive) {
	v.unbind()
	v.cancel(nil)
	v.lose(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live[v.fence.Ref] == v {
		delete(d.live, v.fence.Ref)
	}
	close(v.done)
}

// converse drives a chat run when its turn has come, and reports whether it is over.
func (d *Dispatcher) converse(v *drive, r run.Run) bool {
	defer d.drop(v)
	if err := d.awaitTurn(v.work, r); err != nil {
		return d.finish(v, r, err)
	}
	return d.drive(v, r)
}

// drive goes on with a run once and reports whether it is over. Otherwise it is parked, or can be claimed by another.
func (d *Dispatcher) drive(v *drive, r run.Run) (over bool) {
	timed, stop := context.WithTimeoutCause(v.work, d.timeout(r), errTimeout)
	defer stop()
	outcome, err := d.insist(timed, r)
	switch cause := context.Cause(timed); {
	case err == nil && outcome == agent.Parked:
		d.settleCancel(r.Ref)
		return false
	case err == nil:
		return true
	case errors.Is(err, ledger.ErrFenced):
	case cause != nil:
		err = cause
	default:
		d.cfg.Log.Error("run cannot be driven further", slog.String("run_id", r.ID), slog.Any("error", err))
	}
	return d.finish(v, r, err)
}

// timeout is how long one drive of a run may take: what its request says, where that is less than any run may.
func (d *Dispatcher) timeout(r run.Run) time.Duration {
	if asked := r.Request.RunTimeout; asked > 0 {
		return min(asked, d.cfg.RunTimeout)
	}
	return d.cfg.RunTimeout
}

// insist drives a run, and again under the same claim when it was the store that failed: once it is back, the run goes
// on from its log. Without a new event it is tried as often as a claim may be in vain.
func (d *Dispatcher) insist(ctx context.Context, r run.Run) (agent.Outcome, error) {
	for tries := 1; ; tries++ {
		outcome, err := d.cfg.Driver.Drive(ctx, r)
		if !run.IsCode(err, run.CodeStore) || errors.Is(err, ledger.ErrFenced) || tries >= d.cfg.CrashLimit {
			return outcome, err
		}
		d.cfg.Log.Warn("store failed under a run; going on when it is back",
			slog.String("run_id", r.ID), slog.Any("error", err))
		next, gone := d.lookAgain(ctx, r.Ref)
		switch {
		case gone != nil:
			return 0, err // and ctx says why
		case next.Status.Terminal():
			return agent.Finished, nil // the failed write was committed
		case next.Owner == "" && next.Epoch == r.Epoch:
			return agent.Parked, nil // likewise
		case next.Fence() != r.Fence():
			return 0, ledger.ErrFenced
		case next.NextSeq > r.NextSeq:
			tries = 0
		}
		r = next
	}
}

// lookAgain reads a run as soon as the store is back, not at once. One that can be read and not written to, because its
// disk is full or another server is to take its place, is not back.
func (d *Dispatcher) lookAgain(ctx context.Context, ref run.Ref) (run.Run, error) {
	again := time.NewTicker(d.cfg.Poll)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return run.Run{}, context.Cause(ctx)
		case <-again.C:
		}
		if _, err := d.cfg.Store.Renew(ctx, d.node(), nil); err != nil {
			continue
		}
		if r, err := d.cfg.Store.Run(ctx, ref); err == nil {
			return r, nil
		}
	}
}

// settleCancel ends a run that was cancelled in the moment it parked, when no drive was left to notice.
func (d *Dispatcher) settleCancel(ref run.Ref) {
	ctx, stop := context.WithTimeout(context.Background(), writeTimeout)
	defer stop()
	r, err := d.cfg.Store.Run(ctx, ref)
	if err == nil && r.Cancel != "" && !r.Status.Terminal() {
		_, err = d.stop(ctx, ref, r.Cancel, run.Idempotency{})
	}
	if err != nil {
		d.cfg.Log.Error("cannot look at parked run", slog.String("run_id", ref.ID), slog.Any("error", err))
	}
}
