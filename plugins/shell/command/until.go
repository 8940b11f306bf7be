package command

import (
	"context"
	"time"
)

// deadline is a context that looks at the clock when it is asked: inside a sandbox with one thread no timer fires while
// a command is busy.
type deadline struct {
	context.Context
	at time.Time
}

// Until returns a context that ends at a time, or with ctx.
func Until(ctx context.Context, at time.Time) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithDeadline(ctx, at)
	return &deadline{inner, at}, cancel
}

// Err looks at the clock, of this deadline and of the one around it.
func (d *deadline) Err() error {
	if err := d.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(d.at) {
		return context.DeadlineExceeded
	}
	return nil
}
