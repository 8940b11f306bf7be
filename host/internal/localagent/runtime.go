package localagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/gateway"
)

// Gateway is the way to the tools. A runtime has no other.
type Gateway interface {
	Active() string
	Catalog(ctx context.Context) gateway.Catalog
	Call(ctx context.Context, request gateway.Request) (gateway.Reply, error)
	Result(id string) (gateway.Result, error)
}

// Research knows what people decided. Released reports whether a live grant of exactly this plan exists under which a
// campaign was admitted.
type Research interface {
	Released(ctx context.Context, workspace, planID string) (bool, error)
}

// Limits bound a runtime. A zero field means the default.
type Limits struct {
	Queue      int // turns that wait for the worker; 8
	Turns      int // turns that are remembered; 32
	ModelCalls int // of one turn, a repair included; 8
	ToolCalls  int // of one turn, the reading after a grant included; 8
	Events     int // that are remembered; 128
}

func (l Limits) orDefaults() Limits {
	for _, limit := range []struct {
		set      *int
		standard int
	}{{&l.Queue, 8}, {&l.Turns, 32}, {&l.ModelCalls, 8}, {&l.ToolCalls, 8}, {&l.Events, 128}} {
		if *limit.set <= 0 {
			*limit.set = limit.standard
		}
	}
	return l
}

// Config is what a runtime is made of. Gateway, Research and Mode are required.
type Config struct {
	Gateway   Gateway
	Research  Research
	Mode      Mode
	Model     Model                           // who answers in the mode LocalModel; nil means that none is configured
	ModelName string                          // shown in the status
	Reachable func(ctx context.Context) error // whether Model could be asked now; nil means always
	Limits    Limits
	Clock     func() time.Time // default time.Now
	Log       *slog.Logger
}

// Runtime owns the turns of one workspace and the one goroutine that drives them, from New to Close. It may be used
// from many goroutines.
type Runtime struct {
	cfg   Config
	ended chan struct{} // closed when the worker has ended

	mu        sync.Mutex
	wake      *sync.Cond // a turn was queued, or the runtime closed
	workspace string     // whose turns these are; empty when none is active
	turns     []*turn    // oldest first
	queue     []*turn    // those that wait for the worker
	busy      bool       // the worker drives a turn, even one that has been cancelled
	events    ring
	closed    bool
}

// turn is a turn and what its drive remembers.
type turn struct {
	Turn             // guarded by the runtime's lock
	key       string // never changes
	workspace string // never changes
	plan      string // whose grant it waits for; guarded by the runtime's lock

	end context.CancelCauseFunc // of the drive under way; guarded by the runtime's lock

	memory // of the worker only
}

// New starts a runtime.
func New(cfg Config) (*Runtime, error) {
	if cfg.Gateway == nil || cfg.Research == nil {
		return nil, errors.New("local agent: want a gateway and the research")
	}
	switch cfg.Mode {
	case Demo:
		cfg.Model, cfg.ModelName, cfg.Reachable = script{}, "", nil
	case LocalModel:
	default:
		return nil, fmt.Errorf("local agent: unknown mode %q", cfg.Mode)
	}
	cfg.Limits = cfg.Limits.orDefaults()
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runtime{cfg: cfg, ended: make(chan struct{}), workspace: cfg.Gateway.Active()}
	r.events.most = cfg.Limits.Events
	r.wake = sync.NewCond(&r.mu)
	go r.serve()
	return r, nil
}

// Why a drive is ended from outside.
var (
	errCancelled = errors.New("the turn was cancelled")
	errForgotten = errors.New("another workspace was activated")
	errClosed    = errors.New("the runtime was closed")
)

// Switch cancels and forgets every turn and event of the workspace before, and goes on with this one. It calls nobody.
func (r *Runtime) Switch(workspace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if workspace == r.workspace {
		return
	}
	r.cancelAll(errForgotten)
	r.workspace, r.turns = workspace, nil
	r.events.forget()
}

// Close cancels every turn, takes no more, and waits until the worker has ended or ctx does.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.cancelAll(errClosed)
	r.wake.Broadcast()
	r.mu.Unlock()
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the local agent: %w", context.Cause(ctx))
	}
}

// cancelAll cancels what is not final. The caller holds the lock.
func (r *Runtime) cancelAll(cause error) {
	for _, t := range r.turns {
		r.cancel(t, cause)
	}
}

// cancel ends a turn, wherever it stands, and whatever is being done for it. The caller holds the lock.
func (r *Runtime) cancel(t *turn, cause error) {
	if t.State.Final() {
		return
	}
	r.queue = slices.DeleteFunc(r.queue, func(queued *turn) bool { return queued == t })
	r.conclude(t, ending{state: Cancelled})
	if t.end == nil {
		t.memory = memory{}
		return
	}
	t.end(cause)
}

// room reports whether one more turn may wait for the worker. The caller holds the lock.
func (r *Runtime) room() bool {
	waiting := len(r.queue)
	if r.busy {
		waiting++
	}
	return waiting < 1+r.cfg.Limits.Queue
}

// enqueue hands a turn to the worker. The caller holds the lock.
func (r *Runtime) enqueue(t *turn) {
	t.State = Queued
	r.queue = append(r.queue, t)
	r.wake.Signal()
}
