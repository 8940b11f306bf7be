package fastreact

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// pageSize is how many events a tail reads at a time.
const pageSize = 32

// tail reads a run from the log: what is there, then what comes, until the run is over.
type tail struct {
	records Records
	ref     run.Ref
	after   int64
	poll    time.Duration
	silence time.Duration
	ending  <-chan struct{} // may be nil

	each func(run.Event) error
	idle func() error
}

// follow calls each for every event after the start, in order, and idle after every stretch of silence. It returns
// nil when the run is over or ending is closed, and the first error otherwise.
func (t *tail) follow(ctx context.Context) error {
	notice, stop := t.records.Watch(t.ref)
	defer stop()
	poll := time.NewTicker(t.poll)
	defer poll.Stop()
	silence := time.NewTimer(t.silence)
	defer silence.Stop()
	for {
		before := t.after
		over, err := t.catchUp(ctx)
		if over || err != nil {
			return err
		}
		if t.after != before {
			silence.Reset(t.silence)
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-silence.C:
			if err := t.idle(); err != nil {
				return err
			}
			silence.Reset(t.silence)
		case <-t.ending:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// catchUp passes on what is in the log and reports whether the run is over. A terminal event says so; only where
// nothing came is the run itself read, for a reader who asked for what comes after the last event.
func (t *tail) catchUp(ctx context.Context) (over bool, err error) {
	before := t.after
	over, err = t.pass(ctx)
	if over || err != nil || t.after != before {
		return over, err
	}
	r, err := t.records.Run(ctx, t.ref)
	if err != nil {
		return false, fmt.Errorf("follow run: %w", err)
	}
	if !r.Status.Terminal() {
		return false, nil
	}
	_, err = t.pass(ctx) // what came between the two looks
	return true, err
}

// pass passes on every event that is there and reports whether the last was terminal.
func (t *tail) pass(ctx context.Context) (over bool, err error) {
	for {
		events, err := t.records.Events(ctx, t.ref, t.after, pageSize)
		if err != nil {
			return false, fmt.Errorf("follow run: %w", err)
		}
		for _, e := range events {
			if err := t.each(e); err != nil {
				return false, err
			}
			t.after = e.Sequence
			if e.Kind.Terminal() {
				return true, nil
			}
		}
		if len(events) < pageSize {
			return false, nil
		}
	}
}
