package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// ErrStopping is the end of a tail that the service ends while the run goes on, here or on another node: what follows
// is in the log.
var ErrStopping = errors.New("the service is stopping")

// pageSize is how many events a tail reads at a time.
const pageSize = 32

// RunLog is where runs and their events are read. The ledger is one.
type RunLog interface {
	Run(ctx context.Context, ref run.Ref) (run.Run, error)
	Events(ctx context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error)
	Watch(ref run.Ref) (notice <-chan struct{}, stop func())
}

// Tail reads a run from the log: what is there, then what comes, until the run is over. Whoever drives the run, and
// whether a notice of it arrives, makes no difference: the log is looked at every Poll.
type Tail struct {
	Log     RunLog
	Ref     run.Ref
	After   int64 // sequence of the last event that is not wanted; -1 = the start
	Poll    time.Duration
	Silence time.Duration
	Ending  <-chan struct{} // closed when the service stops; may be nil
	Patient bool            // a store that cannot be read now is asked again

	Each func(run.Event) error
	Idle func() error
}

// Follow calls Each for every event after the start, in order, and Idle after every stretch of silence. It returns
// nil when the run is over, ErrStopping when Ending is closed before that, and the first error otherwise.
func (t *Tail) Follow(ctx context.Context) error {
	notice, stop := t.Log.Watch(t.Ref)
	defer stop()
	poll := time.NewTicker(t.Poll)
	defer poll.Stop()
	silence := time.NewTimer(t.Silence)
	defer silence.Stop()
	for {
		before := t.After
		over, err := t.catchUp(ctx)
		if over || err != nil && !t.outlasts(err) {
			return err
		}
		if t.After != before {
			silence.Reset(t.Silence)
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-silence.C:
			if err := t.Idle(); err != nil {
				return err
			}
			silence.Reset(t.Silence)
		case <-t.Ending:
			return t.lastLook(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// outlasts reports whether a look that failed is followed by another.
func (t *Tail) outlasts(err error) bool { return t.Patient && run.IsCode(err, run.CodeStore) }

// lastLook passes on what came before the service stopped.
func (t *Tail) lastLook(ctx context.Context) error {
	over, err := t.catchUp(ctx)
	if over || err != nil {
		return err
	}
	return ErrStopping
}

// catchUp passes on what is in the log and reports whether the run is over. A terminal event says so; only where
// nothing came is the run itself read, for a reader who asked for what comes after the last event.
func (t *Tail) catchUp(ctx context.Context) (over bool, err error) {
	before := t.After
	over, err = t.pass(ctx)
	if over || err != nil || t.After != before {
		return over, err
	}
	r, err := t.Log.Run(ctx, t.Ref)
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
func (t *Tail) pass(ctx context.Context) (over bool, err error) {
	for {
		events, err := t.Log.Events(ctx, t.Ref, t.After, pageSize)
		if err != nil {
			return false, fmt.Errorf("follow run: %w", err)
		}
		for _, e := range events {
			if err := t.Each(e); err != nil {
				return false, err
			}
			t.After = e.Sequence
			if e.Kind.Terminal() {
				return true, nil
			}
		}
		if len(events) < pageSize {
			return false, nil
		}
	}
}
