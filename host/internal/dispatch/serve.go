package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// wakes are the three that want to know when there may be news: both loops that claim, and the heartbeat, which hears
// of cancels that came to another process. The ledger's channel has one reader, which tells them all; to watch every
// driven run instead would take a place in the ledger for each, and say no more.
type wakes struct {
	background, chat, heart chan struct{}
}

func newWakes() wakes {
	return wakes{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (d *Dispatcher) listen() {
	for {
		select {
		case <-d.alive.Done():
			return
		case <-d.cfg.Store.Wake():
		}
		for _, wake := range []chan struct{}{d.woken.background, d.woken.chat, d.woken.heart} {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}
}

// Serve claims runs that nobody drives and drives them until ctx ends or Close is called: background runs from the
// queue, and of both kinds those that were answered or left behind, by whatever process. It returns when no new run
// will be claimed; Close waits for those under way.
func (d *Dispatcher) Serve(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(d.taking, stop)()
	var parts sync.WaitGroup
	parts.Go(func() { d.serve(ctx, run.Background, d.works, d.woken.background) })
	parts.Go(func() { d.serve(ctx, run.Chat, d.returns, d.woken.chat) })
	parts.Go(func() { d.duties.Keep(ctx, adriftDuty, d.sweep) })
	parts.Wait()
}

// serve claims runs of one kind.
func (d *Dispatcher) serve(ctx context.Context, kind run.Kind, places, wake chan struct{}) {
	poll := time.NewTicker(d.cfg.Poll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case places <- struct{}{}:
		}
		if ctx.Err() == nil && d.claim(kind, func() { <-places }) {
			continue
		}
		<-places
		select {
		case <-wake:
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

// claim takes a run, if there is one, and drives it in a goroutine that leaves its place when it is done. A claim that
// has begun is waited for: it may have been committed, and then the run is ours.
func (d *Dispatcher) claim(kind run.Kind, leave func()) bool {
	if !d.begin() {
		return false
	}
	ctx, stop := context.WithTimeout(context.Background(), writeTimeout)
	defer stop()
	asked := time.Now()
	r, err := d.cfg.Store.Claim(ctx, ledger.Claimant{Owner: d.cfg.Owner, Kind: kind, Lease: d.cfg.Lease})
	if err != nil {
		d.drives.Done()
		if !errors.Is(err, ledger.ErrEmpty) {
			d.cfg.Log.Error("cannot claim a run", slog.Any("error", err))
		}
		return false
	}
	if r.LeftBehind {
		d.takenOver.Add(1)
		d.cfg.Log.Warn("run was left behind and is taken over", slog.String("run_id", r.ID), slog.Int64("epoch", r.Epoch))
	}
	v := d.take(r, asked)
	go func() {
		defer d.drives.Done()
		defer leave()
		d.work(v, r)
	}()
	return true
}

// work drives one claimed run until it is finished or parked.
func (d *Dispatcher) work(v *drive, r run.Run) {
	defer d.drop(v)
	if v.before != nil { // this process was paused, and its own run was left behind
		<-v.before.done
	}
	if r.Barren < d.cfg.CrashLimit {
		d.drive(v, r)
		return
	}
	if d.conclude(v, r, crashLoop()) {
		d.crashLoops.Add(1)
		d.cfg.Log.Error("run is given up: nobody came further with it", slog.String("run_id", r.ID), slog.Int("claims", r.Barren))
	}
}

func crashLoop() error {
	return &run.Error{
		Code: run.CodeCrashLoop, Op: "claim run",
		Sentence: "The service stopped again and again while it worked on this run, each time before the run came any further. It is not tried again.",
	}
}
