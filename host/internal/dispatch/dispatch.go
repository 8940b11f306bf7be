// Package dispatch decides who drives a run and when: chat runs at once beside their connection, everything else from
// the ledger on bounded pools. It promises that every run it took ends with one terminal event or can be claimed by
// another, whatever stopped it, that it writes to no run whose lease it lost, and that a parked run holds no worker.
// What a run does is left to the agent.
package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/duty"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Store is what the dispatcher needs of the ledger.
type Store interface {
	ledger.Runs
	ledger.Queue
	ledger.Cluster
	Append(ctx context.Context, fence run.Fence, batch ledger.Batch) ([]run.Event, error)
	Watch(ref run.Ref) (notice <-chan struct{}, stop func())
	Ahead(ctx context.Context, key run.SessionKey, id string) ([]run.Ref, error)
}

// Driver drives one run.
type Driver interface {
	// Drive goes on with a run until it is finished or parked. When ctx ends it returns the cause and writes nothing but
	// the result of a call that came back, and not even that when the cause is ledger.ErrFenced.
	Drive(ctx context.Context, r run.Run) (agent.Outcome, error)
	// Conclude ends a run that will not be driven further: one batch with all that is owed and the terminal event.
	Conclude(ctx context.Context, r run.Run, ending agent.Ending) error
	// Ending returns the batch that Conclude would write, and writes nothing. It has no Finish when the run is over.
	Ending(ctx context.Context, r run.Run, ending agent.Ending) (ledger.Batch, error)
}

// Config is what a dispatcher is made of. Every limit must be above zero.
type Config struct {
	Store      Store
	Driver     Driver
	Node       string        // name of this process, for people
	Owner      string        // this incarnation
	Chats      int           // chat runs that begin at a time; one more is refused. As many may go on beside them
	Workers    int           // background runs at a time
	Queue      int           // background runs that may wait
	Lease      time.Duration // how long a run stays ours without a renewal
	CrashLimit int           // claims in a row without a new event after which a run is given up
	RunTimeout time.Duration // of one drive, and of a chat run's wait for its turn; waiting for a person does not count
	Poll       time.Duration // how often to look for work that nobody announced
	Log        *slog.Logger
}

// Stats says what a dispatcher does, and what it did since it was made.
type Stats struct {
	Driving        int   // runs at this moment
	Fenced         int64 // drives that found their run in the hands of a later claim
	TakenOver      int64 // runs taken from an owner whose lease was over
	Released       int64 // runs handed back while stopping
	CrashLoops     int64 // runs given up because nobody came further with them
	RenewalsFailed int64 // heartbeats that the store did not take
}

// Dispatcher owns the goroutines that drive runs. New makes one, which Close must end; Serve must run for background
// runs to move, and for chat runs that were parked or left behind.
type Dispatcher struct {
	cfg     Config
	duties  *duty.Roster
	chats   chan struct{} // places of chat runs that begin
	works   chan struct{} // places of background runs
	returns chan struct{} // places of chat runs that go on

	taking context.Context // ends when no run is taken any more
	settle context.CancelFunc
	base   context.Context // ends every drive; cancelled by Close only
	end    context.CancelCauseFunc
	alive  context.Context // ends the heartbeat, after the last drive
	rest   context.CancelFunc
	parts  sync.WaitGroup // of the heartbeat
	woken  wakes

	fenced, takenOver, released, crashLoops, renewalsFailed atomic.Int64

	closing sync.Once
	mu      sync.Mutex
	closed  bool
	live    map[run.Ref]*drive
	drives  sync.WaitGroup
}

// The causes that end a drive.
var (
	errTimeout  = errors.New("run timeout")
	errDraining = errors.New("service is stopping")
	errLost     = leaseOver("lease could not be renewed")
	errFenced   = leaseOver("run belongs to a later claim")
)

// leaseOver is the cause of a drive whose run is, or may be, another's: it is ledger.ErrFenced to whoever asks.
type leaseOver string

func (l leaseOver) Error() string { return string(l) }

// Is makes a lease that is over ledger.ErrFenced.
func (leaseOver) Is(target error) bool { return target == ledger.ErrFenced }

// cancelled is the cause of a drive that somebody cancelled.
type cancelled struct{ reason string }

func (c cancelled) Error() string { return "cancelled: " + c.reason }

// New returns a dispatcher that drives nothing yet, and says to the ledger that this process is alive.
func New(cfg Config) *Dispatcher {
	d := &Dispatcher{
		cfg:     cfg,
		duties:  duty.New(duty.Config{Store: cfg.Store, Owner: cfg.Owner, Lease: cfg.Lease, Log: cfg.Log}),
		chats:   make(chan struct{}, cfg.Chats),
		works:   make(chan struct{}, cfg.Workers),
		returns: make(chan struct{}, cfg.Chats),
		woken:   newWakes(),
		live:    map[run.Ref]*drive{},
	}
	d.taking, d.settle = context.WithCancel(context.Background())
	d.base, d.end = context.WithCancelCause(context.Background())
	d.alive, d.rest = context.WithCancel(context.Background())
	d.parts.Go(d.listen)
	d.parts.Go(d.beat)
	return d
}

// Stats returns the present counts.
func (d *Dispatcher) Stats() Stats {
	d.mu.Lock()
	driving := len(d.live)
	d.mu.Unlock()
	return Stats{
		Driving: driving, Fenced: d.fenced.Load(), TakenOver: d.takenOver.Load(), Released: d.released.Load(),
		CrashLoops: d.crashLoops.Load(), RenewalsFailed: d.renewalsFailed.Load(),
	}
}

// begin counts one more thing that Close waits for, unless the dispatcher is closed.
func (d *Dispatcher) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.drives.Add(1)
	return true
}

// Draining reports whether runs are taken no more, because the process is stopping.
func (d *Dispatcher) Draining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// Close stops taking runs and waits for those under way until shortly before ctx ends; what is left then is stopped
// and handed back, so that any process may go on with it. Afterwards Cancel still works, and nothing else.
func (d *Dispatcher) Close(ctx context.Context) {
	d.closing.Do(func() {
		d.mu.Lock()
		d.closed = true
		d.mu.Unlock()
		d.settle()
		d.drain(ctx)
		d.rest()
		d.parts.Wait()
		d.depart()
	})
}

// handBackTime is how long before the end of the grace, at most, runs are handed back.
const handBackTime = 2 * time.Second

func (d *Dispatcher) drain(ctx context.Context) {
	if deadline, bounded := ctx.Deadline(); bounded {
		early := min(handBackTime, time.Until(deadline)/5)
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, deadline.Add(-early))
		defer stop()
	}
	done := make(chan struct{})
	go func() { d.drives.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	d.end(errDraining)
	<-done
}

// depart forgets this process in the ledger; one that cannot be forgotten is no longer alive after its lease.
func (d *Dispatcher) depart() {
	ctx, stop := context.WithTimeout(context.Background(), handBackTime)
	defer stop()
	if err := d.cfg.Store.Depart(ctx, d.cfg.Owner); err != nil && !errors.Is(err, ledger.ErrClosed) {
		d.cfg.Log.Warn("cannot say that this process stops", slog.Any("error", err))
	}
}
