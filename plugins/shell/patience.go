package shell

import (
	"context"
	"sync/atomic"
	"time"
)

// margin is how long before the host's own deadline a command ends, so that its output can still be told.
const margin = 500 * time.Millisecond

// patience is a context that looks at the clock when it is asked: inside a sandbox with one thread no timer fires while
// a command is busy.
type patience struct {
	context.Context
	until time.Time // zero: no deadline
	ended atomic.Bool
}

// withPatience ends after timeout, 0 meaning as long as ctx allows, and always a moment before ctx does.
func withPatience(ctx context.Context, timeout time.Duration) (*patience, context.CancelFunc) {
	p := &patience{}
	if timeout > 0 {
		p.until = time.Now().Add(timeout)
	}
	if last, bounded := ctx.Deadline(); bounded {
		last = last.Add(-min(margin, time.Until(last)/4))
		if p.until.IsZero() || last.Before(p.until) {
			p.until = last
		}
	}
	inner, cancel := context.WithCancel(ctx)
	if !p.until.IsZero() {
		inner, cancel = context.WithDeadline(ctx, p.until)
	}
	p.Context = inner
	return p, func() {
		p.ended.Store(true)
		cancel()
	}
}

// Err looks at the clock.
func (p *patience) Err() error {
	if p.late() {
		return context.DeadlineExceeded
	}
	return p.Context.Err()
}

// late reports whether the deadline passed before the command had ended.
func (p *patience) late() bool {
	return !p.until.IsZero() && !p.ended.Load() && !time.Now().Before(p.until)
}
