// Package duty gives a chore that any process could do to one of them at a time, without a leader. It promises that a
// duty whose keeper is gone has another within a lease. It does not promise that two never do it at once: a keeper
// that was paused may wake up beside its successor, so every chore must bear to be done twice.
package duty

import (
	"context"
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
func (r *Roster) take(ctx context.Context, name string) (mine bool, err error) {
	asked, stop := context.WithTimeout(ctx, r.cfg.Lease/3)
	defer stop()
	mine, err = r.cfg.Store.Take(asked, name, ledger.Claimant{Owner: r.cfg.Owner, Lease: r.cfg.Lease})
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.Error("cannot take a duty", slog.String("duty", name), slog.Any("error", err))
	}
	return mine, err
}

// Keep runs do for as long as a duty is this process's, until ctx ends: do gets a context that ends when the duty may
// be another's. It looks three times in a lease. A duty that another has ends at once; one of which the store says
// nothing, at the second look.
func (r *Roster) Keep(ctx context.Context, name string, do func(context.Context)) {
	look := time.NewTicker(r.cfg.Lease / 3)
	defer look.Stop()
	stop := func() {}
	defer func() { stop() }()
	var (
		busy  bool
		taken time.Time
	)
	for {
		asked := time.Now()
		mine, err := r.take(ctx, name)
		switch {
		case err == nil && mine:
			if taken = asked; !busy {
				busy, stop = true, begin(ctx, do)
			}
		case err == nil, time.Since(taken) > r.cfg.Lease/2:
			stop()
			busy, stop = false, func() {}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
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
