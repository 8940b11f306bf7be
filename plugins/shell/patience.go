package shell

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// margin is how long before the host's own deadline a command ends, so that its output can still be told.
const margin = 2 * time.Second

// deadlineOf returns when a command ends: after timeout, 0 meaning as long as ctx allows, and always a moment before ctx
// does. The zero time is never.
func deadlineOf(ctx context.Context, timeout time.Duration) time.Time {
	var at time.Time
	if timeout > 0 {
		at = time.Now().Add(timeout)
	}
	if last, bounded := ctx.Deadline(); bounded {
		last = last.Add(-min(margin, time.Until(last)/5))
		if at.IsZero() || last.Before(at) {
			at = last
		}
	}
	return at
}

// within returns a context that ends at a time, if it is one.
func within(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	if at.IsZero() {
		return context.WithCancel(ctx)
	}
	return command.Until(ctx, at)
}
