// Package duty gives a chore that any process could do to one of them at a time, without a leader. It promises that a
// duty whose keeper is gone has another within a lease, and at the next look where it went in order. It does not promise that two never do it at once: a keeper
// that was paused may wake up beside its successor, so every chore must bear to be done twice.
package duty

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// Store gives duties away; the ledger does.
type Store interface {
	Take(ctx context.Context, duty string, by ledger.Claimant) (mine bool, err error)
}

// Config is what a roster is made of.
type Config struct {
	Store Store
	Owner string        // this incarnation
	Lease time.Duration // how long a duty stays with its keeper without a renewal
	Log   *slog.Logger
}

// Roster does the duties that are this process's turn. It may be used from many goroutines.
type Roster struct{ cfg Config }

// New returns a roster.
func New(cfg Config) *Roster { return &Roster{cfg} }

// take asks for a duty, for a third of a lease at most: a store that is silent must not keep a keeper from its end.
func (r *Roster) take(ctx context.Context, name string, lease time.Duration) (mine bool, err error) {
	asked, stop := context.WithTimeout(ctx, r.cfg.Lease/3)
	defer stop()
	return r.cfg.Store.Take(asked, name, ledger.Claimant{Owner: r.cfg.Owner, Lease: lease})
}

// giveBack lets another have a duty at its next look: it is taken for the shortest time there is. Who cannot say so keeps
// it until its lease is over.
func (r *Roster) giveBack(ctx context.Context, name string) {
	if _, err := r.take(context.WithoutCancel(ctx), name, time.Microsecond); err != nil && !errors.Is(err, ledger.ErrClosed) {
		r.cfg.Log.Warn("cannot give a duty back", slog.String("duty", name), slog.Any("error", err))
	}
}

// turn is how a duty stands with this process.
type turn struct {
	stop    func()    // ends the doing, and waits for it; nil while it is not done
	taken   time.Time // when it was asked for with success, the last time
	failing bool      // the store says nothing
}

// Keep runs do for as long as a duty is this process's, until ctx ends, and gives it back then: do gets a context that
// ends when the duty may be another's. It looks three times in a lease. A duty that another has ends at once; one of
// which the store says nothing, at the second look.
func (r *Roster) Keep(ctx context.Context, name string, do func(context.Context)) {
	look := time.NewTicker(r.cfg.Lease / 3)
	defer look.Stop()
	var t turn
	for {
		r.look(ctx, name, &t, do)
		select {
		case <-look.C:
		case <-ctx.Done():
			if t.stop != nil {
				t.stop()
				r.giveBack(ctx, name)
			}
			return
		}
	}
}

// look asks for a duty once, and begins or ends it accordingly.
func (r *Roster) look(ctx context.Context, name string, t *turn, do func(context.Context)) {
	asked := time.Now()
	mine, err := r.take(ctx, name, r.cfg.Lease)
	if ctx.Err() == nil {
		r.note(name, t, err)
	}
	switch {
	case err == nil && mine:
		if t.taken = asked; t.stop == nil {
			t.stop = begin(ctx, do)
		}
	case t.stop != nil && (err == nil || time.Since(t.taken) > r.cfg.Lease/2):
		t.stop()
		t.stop = nil
	}
}

// note says once that a duty cannot be taken, and once that it can be again.
func (r *Roster) note(name string, t *turn, err error) {
	switch failing := err != nil; {
	case failing == t.failing:
		return
	case failing:
		r.cfg.Log.Error("cannot take a duty; trying on", slog.String("duty", name), slog.Any("error", err))
	default:
		r.cfg.Log.Info("a duty can be taken again", slog.String("duty", name))
	}
	t.failing = err != nil
}

// begin does a duty beside its caller. stop ends it and waits.
func begin(ctx context.Context, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}
