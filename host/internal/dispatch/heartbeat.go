package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/failpoint"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// hearing is how often, at most, the heartbeat asks whether driven runs were cancelled by another process.
const hearing = 500 * time.Millisecond

// fenceRule is that who lost a lease stops. A test shows what happens without it.
const fenceRule = "fence"

// beat renews all leases, three times as often as they end, until the last drive is over. A renewal that failed is
// tried again soon, and news are asked for when there may be some.
func (d *Dispatcher) beat() {
	lease := d.cfg.Lease
	next := time.NewTimer(0)
	defer next.Stop()
	var last, due time.Time
	for {
		select {
		case <-d.alive.Done():
			return
		case <-d.woken.heart:
			if soon := last.Add(min(hearing, lease/3)); soon.Before(due) && d.drivesAny() {
				due = soon
				next.Reset(time.Until(due))
			}
			continue
		case <-next.C:
		}
		last = time.Now()
		due = last.Add(lease / 3)
		if !d.renew(last) {
			due = time.Now().Add(lease / 10)
		}
		next.Reset(time.Until(due))
	}
}

func (d *Dispatcher) drivesAny() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.live) > 0
}

// margin is how long before the end of its lease a drive stops by itself.
func (d *Dispatcher) margin() time.Duration { return d.cfg.Lease / 6 }

// renew is one heartbeat. A process that was paused beyond its leases asks before it gives up its runs: where nobody
// took them they are still its own, and where somebody did it learns so.
func (d *Dispatcher) renew(asked time.Time) bool {
	fences, first := d.fences(asked)
	patience := max(first.Add(-d.margin()).Sub(asked), d.cfg.Lease/10)
	ctx, stop := context.WithTimeout(d.alive, patience)
	defer stop()
	held, err := d.cfg.Store.Renew(ctx, d.node(), fences)
	if err == nil {
		d.keep(asked, fences, held)
		return true
	}
	if d.alive.Err() != nil {
		return false
	}
	d.renewalsFailed.Add(1)
	d.cfg.Log.Error("cannot renew leases", slog.Int("runs", len(fences)), slog.Any("error", err))
	d.giveUp(time.Now())
	return false
}

// node is this process as others see it.
func (d *Dispatcher) node() ledger.Node {
	return ledger.Node{Name: d.cfg.Node, Owner: d.cfg.Owner, Lease: d.cfg.Lease, Runs: d.Stats().Driving}
}

// fences returns what is driven, and when the first of their leases ends.
func (d *Dispatcher) fences(now time.Time) (fences []run.Fence, first time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	first = now.Add(d.cfg.Lease)
	for _, v := range d.live {
		fences = append(fences, v.fence)
		if v.until.Before(first) {
			first = v.until
		}
	}
	return fences, first
}

// keep notes which leases were prolonged, tells drives that they were cancelled, and stops those that lost their run.
func (d *Dispatcher) keep(asked time.Time, fences []run.Fence, held []ledger.Held) {
	cancels := map[run.Ref]string{}
	for _, h := range held {
		cancels[h.Ref] = h.Cancel
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, fence := range fences {
		v := d.live[fence.Ref]
		if v == nil || v.fence != fence {
			continue
		}
		cancel, ours := cancels[fence.Ref]
		if ours || failpoint.Off(fenceRule) {
			v.until = asked.Add(d.cfg.Lease)
		} else {
			v.lose(errFenced)
		}
		if cancel != "" {
			v.cancel(cancelled{cancel})
		}
	}
}

// giveUp stops the drives whose lease is about to end: somebody else may take their runs.
func (d *Dispatcher) giveUp(now time.Time) {
	if failpoint.Off(fenceRule) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.live {
		if !now.Before(v.until.Add(-d.margin())) {
			v.lose(errLost)
		}
	}
}

// lost reports whether a cause means that the run is not, or may not be, ours any more.
func lost(cause error) bool { return errors.Is(cause, ledger.ErrFenced) }
