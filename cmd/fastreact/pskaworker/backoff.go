package pskaworker

import (
	"context"
	"math/rand/v2"
	"time"
)

// longestPause bounds the pause between two tries, so that a PSKA that is back is noticed.
const longestPause = 15 * time.Second

// backoff doubles the pause with every failure. Jitter keeps many workers from trying together.
type backoff struct {
	least, most time.Duration
	failed      int
}

func (b *backoff) next() time.Duration {
	pause := b.least << min(b.failed, 16)
	b.failed++
	return jittered(min(pause, b.most))
}

func (b *backoff) reset() { b.failed = 0 }

// jittered returns between three quarters of d and the whole of it.
func jittered(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d)/4+1))
}

// pauseFor waits, or returns the cause of ctx.
func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
