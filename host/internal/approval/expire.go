package approval

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// sweepSize is how many due approvals are read at a time.
const sweepSize = 100

// Watch looks again after these times, whatever was announced: other processes and changed settings are noticed.
const (
	longestNap = 30 * time.Second
	retryNap   = time.Second
)

// lateness is how long after its expiry an announced approval may still be on its way into the store.
const lateness = 15 * time.Second

// Watch expires approvals on time until ctx ends, and then returns nil. A store that fails is asked again.
func (d *Desk) Watch(ctx context.Context) error {
	for {
		nap := d.sweep(ctx)
		timer := time.NewTimer(nap)
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
	announced, found := d.nextExpected()
	if err := d.expireDue(ctx); err != nil {
		d.logFailure(ctx, err)
		return retryNap
	}
	oldest, err := d.cfg.Store.Approvals(ctx, run.ApprovalFilter{Status: run.Pending, Oldest: true, Limit: sweepSize})
	if err != nil {
		d.logFailure(ctx, err)
		return retryNap
	}
	nap := longestNap
	if found {
		nap = min(nap, announced.Sub(d.now()))
	}
	for _, a := range oldest.Items {
		nap = min(nap, a.ExpiresAt.Sub(d.now()))
	}
	return max(nap, time.Millisecond)
}

func (d *Desk) logFailure(ctx context.Context, err error) {
	if ctx.Err() == nil {
		d.cfg.Log.Error("cannot expire approvals", slog.Any("error", err))
	}
}

// expect announces an expiry that the store may not show yet.
func (d *Desk) expect(expiry time.Time) {
	d.mu.Lock()
	at, _ := slices.BinarySearchFunc(d.due, expiry, time.Time.Compare)
	d.due = slices.Insert(d.due, at, expiry)
	d.mu.Unlock()
	d.Nudge()
}

// nextExpected forgets announced expiries that are long over and returns when to look for the next one. One that is
// just over may not be in the store yet, so it is looked for again soon.
func (d *Desk) nextExpected() (expiry time.Time, found bool) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.due = slices.DeleteFunc(d.due, func(expiry time.Time) bool { return !expiry.Add(lateness).After(now) })
	if len(d.due) == 0 {
		return time.Time{}, false
	}
	if d.due[0].After(now) {
		return d.due[0], true
	}
	return now.Add(retryNap), true
}

// expireDue expires every pending approval whose time is over.
func (d *Desk) expireDue(ctx context.Context) error {
	for {
		due, err := d.cfg.Store.Approvals(ctx, run.ApprovalFilter{
			Status: run.Pending, DueBefore: d.now(), Oldest: true, Limit: sweepSize,
		})
		if err != nil {
			return fmt.Errorf("list due approvals: %w", err)
		}
		left := 0
		for _, a := range due.Items {
			expired, err := d.expire(ctx, a)
			if err != nil {
				return err
			}
			if !expired.Status.Settled() {
				left++
			}
		}
		if len(due.Items) < sweepSize || left > 0 {
			return nil
		}
	}
}

func (d *Desk) expireIfDue(ctx context.Context, a run.Approval) (run.Approval, error) {
	if a.Status.Settled() || a.ExpiresAt.After(d.now()) {
		return a, nil
	}
	return d.expire(ctx, a)
}

// expire settles an approval that nobody answered in time: "approved=false, resolution_reason=approval_timeout". An
// answer that was faster stands.
func (d *Desk) expire(ctx context.Context, a run.Approval) (run.Approval, error) {
	expired, _, err := d.cfg.Store.Resolve(ctx, run.Resolution{
		ID: a.ID, Status: run.Expired, Reason: ReasonTimeout, At: d.now(),
	})
	if err != nil {
		return run.Approval{}, fmt.Errorf("expire approval %s: %w", a.ID, err)
	}
	return expired, nil
}
