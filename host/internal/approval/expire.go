package approval

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// sweepSize is how many deadlines are read at a time.
const sweepSize = 100

// Watch looks again after these times, whatever was opened here: other processes die and leave theirs.
const (
	longestNap  = 2 * time.Second
	shortestNap = 50 * time.Millisecond
	retryNap    = time.Second
)

// Watch expires approvals on time until ctx ends, and then returns nil. A store that fails is asked again.
func (d *Desk) Watch(ctx context.Context) error {
	for {
		timer := time.NewTimer(d.sweep(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-d.nudge:
			timer.Stop()
		}
	}
}

// Nudge makes Watch look again now.
func (d *Desk) Nudge() {
	select {
	case d.nudge <- struct{}{}:
	default:
	}
}

// sweep expires what is due and returns how long nothing else will be.
func (d *Desk) sweep(ctx context.Context) time.Duration {
	nap, err := d.expireDue(ctx)
	if err == nil {
		return nap
	}
	if ctx.Err() == nil {
		d.cfg.Log.Error("cannot expire approvals", slog.Any("error", err))
	}
	return retryNap
}

// nap is how long Watch may rest when it knows of no deadline: what is opened meanwhile does not expire sooner.
func (d *Desk) nap() time.Duration { return max(min(longestNap, d.cfg.Patience), shortestNap) }

// expireDue expires every pending approval whose time is over, and returns how long no other one's will be.
func (d *Desk) expireDue(ctx context.Context) (time.Duration, error) {
	for {
		now, next, err := d.cfg.Store.Deadlines(ctx, sweepSize)
		if err != nil {
			return 0, fmt.Errorf("read deadlines: %w", err)
		}
		for _, deadline := range next {
			if wait := deadline.At.Sub(now); wait > 0 {
				return max(min(wait, d.nap()), time.Millisecond), nil
			}
			expired, err := d.expire(ctx, deadline.ApprovalID)
			if err != nil {
				return 0, err
			}
			if !expired.Status.Settled() { // the store's clock was set back
				return shortestNap, nil
			}
		}
		if len(next) < sweepSize {
			return d.nap(), nil
		}
	}
}

func (d *Desk) expireIfDue(ctx context.Context, a run.Approval) (run.Approval, error) {
	if a.Status.Settled() {
		return a, nil
	}
	now, err := d.cfg.Store.Now(ctx)
	if err != nil {
		return run.Approval{}, fmt.Errorf("read approval %s: %w", a.ID, err)
	}
	if a.ExpiresAt.After(now) {
		return a, nil
	}
	return d.expire(ctx, a.ID)
}

// expire settles an approval that nobody answered in time: "approved=false, resolution_reason=approval_timeout". An
// answer that was faster stands.
func (d *Desk) expire(ctx context.Context, id string) (run.Approval, error) {
	expired, _, err := d.cfg.Store.Resolve(ctx, run.Resolution{ID: id, Status: run.Expired, Reason: ReasonTimeout})
	if err != nil {
		return run.Approval{}, fmt.Errorf("expire approval %s: %w", id, err)
	}
	return expired, nil
}
