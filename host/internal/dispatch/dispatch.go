// Package dispatch decides who drives a run and when: chat runs at once beside their connection, background runs
// from the queue on a bounded pool. It promises that every run it took ends with one terminal event, whatever
// cancelled it, and that a parked run holds no worker. What a run does is left to the agent.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Store is what the dispatcher needs of the ledger.
type Store interface {
	ledger.Runs
	ledger.Queue
	Watch(ref run.Ref) (notice <-chan struct{}, stop func())
	Ahead(ctx context.Context, key run.SessionKey, id string) ([]run.Ref, error)
}

// Driver drives one run.
type Driver interface {
	// Drive goes on with a run until it is finished or parked. When ctx ends it returns the cause and writes nothing.
	Drive(ctx context.Context, r run.Run) (agent.Outcome, error)
	// Conclude ends a run that will not be driven further: one batch with all that is owed and the terminal event.
	Conclude(ctx context.Context, r run.Run, ending agent.Ending) error
}

// Config is what a dispatcher is made of. Every limit must be above zero.
type Config struct {
	Store      Store
	Driver     Driver
	Owner      string        // this incarnation
	Chats      int           // chat runs at a time; one more is refused
	Workers    int           // background runs at a time
	Queue      int           // background runs that may wait
	RunTimeout time.Duration // of one drive, and of a chat run's wait for its turn; waiting for a person does not count
	Poll       time.Duration // how often to look for work that nobody announced
	Log        *slog.Logger
}

// Dispatcher owns the goroutines that drive runs. New makes one; Serve must run for background runs to move.
type Dispatcher struct {
	cfg   Config
	chats chan struct{}
	works chan struct{}
	base  context.Context // ends every drive; cancelled by Close only
	end   context.CancelCauseFunc

	submitting sync.Mutex // makes "count, then create" one step
	admitting  sync.Mutex // makes "look into the session, then create" one step

	mu     sync.Mutex
	closed bool
	live   map[run.Ref]context.CancelCauseFunc
	drives sync.WaitGroup
}

// The causes that end a drive.
var (
	errTimeout  = errors.New("run timeout")
	errDraining = errors.New("service is stopping")
)

// cancelled is the cause of a drive that somebody cancelled.
type cancelled struct{ reason string }

func (c cancelled) Error() string { return "cancelled: " + c.reason }

// New returns a dispatcher that drives nothing yet.
func New(cfg Config) *Dispatcher {
	base, end := context.WithCancelCause(context.Background())
	return &Dispatcher{
		cfg: cfg, base: base, end: end,
		chats: make(chan struct{}, cfg.Chats),
		works: make(chan struct{}, cfg.Workers),
		live:  map[run.Ref]context.CancelCauseFunc{},
	}
}

// Chat stores a chat run and drives it at once. When connection ends before the run does, the run is cancelled,
// unless the request is detached. A run in turn begins when the earlier ones of its session are over. It fails with CodeSaturated when all chat places are taken and CodeRunExists when
// the id is. A request that repeats an earlier one gets that one's run and is no more than a reader of it.
func (d *Dispatcher) Chat(connection context.Context, request run.Request) (run.Run, error) {
	if r, err := d.repeated(connection, request); !errors.Is(err, ledger.ErrUnknown) {
		return r, err
	}
	leave, err := d.enter(d.chats)
	if err != nil {
		return run.Run{}, err
	}
	leave = sync.OnceFunc(leave)
	r := d.newRun(request, run.Running)
	r.Owner, r.Epoch, r.Attempts, r.StartedAt = d.cfg.Owner, 1, 1, &r.CreatedAt
	if err := d.create(connection, r); err != nil {
		leave()
		d.drives.Done()
		return d.orRepeated(connection, request, err)
	}
	ctx, cancel := d.register(r.Ref)
	stop := func() bool { return true }
	if !request.Detached {
		stop = context.AfterFunc(connection, func() { cancel(cancelled{"client_disconnected"}) })
	}
	go func() {
		defer d.drives.Done()
		defer leave()
		defer d.forget(r.Ref)
		defer stop()
		if err := d.awaitTurn(ctx, r); err != nil {
			d.conclude(r, err)
			return
		}
		d.converse(ctx, r, leave)
	}()
	return r, nil
}

// Submit queues a background run. It fails with CodeSaturated when the queue is full and CodeRunExists when the id is
// taken. A request that repeats an earlier one gets that one's run.
func (d *Dispatcher) Submit(ctx context.Context, request run.Request) (run.Run, error) {
	d.submitting.Lock()
	defer d.submitting.Unlock()
	if r, err := d.repeated(ctx, request); !errors.Is(err, ledger.ErrUnknown) {
		return r, err
	}
	if d.draining() {
		return run.Run{}, notReady()
	}
	waiting, err := d.cfg.Store.Runs(ctx, run.Filter{Kind: run.Background, Status: run.Queued})
	if err != nil {
		return run.Run{}, fmt.Errorf("count the queue: %w", err)
	}
	if waiting.Total >= d.cfg.Queue {
		return run.Run{}, saturated("submit")
	}
	r := d.newRun(request, run.Queued)
	if err := d.create(ctx, r); err != nil {
		return d.orRepeated(ctx, request, err)
	}
	d.interrupt(ctx, r)
	return r, nil
}

func (d *Dispatcher) newRun(request run.Request, status run.Status) run.Run {
	request.Multitask = request.Multitask.OrDefault(request.SessionMemory)
	return run.Run{
		Ref:       run.Ref{Tenant: run.TenantKey(request.Identity.TenantKey), ID: request.ID},
		SessionID: request.SessionID,
		Kind:      request.Kind,
		Status:    status,
		Request:   request,
		CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
}

// enter takes a place without waiting and counts one more drive. The returned function gives the place back.
func (d *Dispatcher) enter(places chan struct{}) (leave func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, notReady()
	}
	select {
	case places <- struct{}{}:
		d.drives.Add(1)
		return func() { <-places }, nil
	default:
		return nil, saturated("chat")
	}
}

// register makes the context of a run's drives and remembers how to cancel it.
func (d *Dispatcher) register(ref run.Ref) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(d.base)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live[ref] = cancel
	return ctx, cancel
}

func (d *Dispatcher) forget(ref run.Ref) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cancel := d.live[ref]; cancel != nil {
		cancel(nil)
	}
	delete(d.live, ref)
}

func (d *Dispatcher) draining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// Close stops taking runs, waits for those under way until ctx ends, then cancels what is left and waits for it.
func (d *Dispatcher) Close(ctx context.Context) {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	done := make(chan struct{})
	go func() { d.drives.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		d.end(errDraining)
		<-done
	}
	d.end(errDraining)
}

func saturated(op string) error {
	return &run.Error{Code: run.CodeSaturated, Sentence: "The service is busy. Try again later.", Op: op}
}

func notReady() error {
	return &run.Error{Code: run.CodeNotReady, Sentence: "The service is stopping. Try again later.", Op: "admit run"}
}
