package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// script is a driver whose drive is a function; it concludes like the agent, with one batch.
type script struct {
	log   ledger.Ledger
	drive func(ctx context.Context, r run.Run) (agent.Outcome, error)
	full  atomic.Int32 // so many ends are not taken by the store
}

func (s *script) Drive(ctx context.Context, r run.Run) (agent.Outcome, error) { return s.drive(ctx, r) }

func (s *script) Conclude(ctx context.Context, r run.Run, ending agent.Ending) error {
	if s.full.Add(-1) >= 0 {
		return errFull
	}
	batch, err := s.Ending(ctx, r, ending)
	if err == nil {
		_, err = s.log.Append(ctx, r.Fence(), batch)
	}
	return err
}

func (s *script) Ending(_ context.Context, _ run.Run, ending agent.Ending) (ledger.Batch, error) {
	return ledger.Batch{
		Events: []run.Event{{Kind: run.Errored, Content: ending.Text}},
		Settle: &run.Resolution{Status: run.ApprovalCancelled, Reason: ending.Reason},
		Finish: &ledger.Finish{
			Status: ending.Status,
			Outcome: run.Outcome{
				ErrorCode: string(ending.Code), StopReason: ending.Reason, Error: ending.Text,
			},
		},
	}, nil
}

// finish ends a run well.
func (s *script) finish(ctx context.Context, r run.Run) (agent.Outcome, error) {
	_, err := s.log.Append(ctx, r.Fence(), ledger.Batch{
		Events: []run.Event{{Kind: run.SessionEnd, Content: "ok"}},
		Finish: &ledger.Finish{Status: run.Completed},
	})
	return agent.Finished, err
}

// park asks a person.
func (s *script) park(ctx context.Context, r run.Run) (agent.Outcome, error) {
	_, err := s.log.Append(ctx, r.Fence(), ledger.Batch{
		Events: []run.Event{{Kind: run.AskUser, ApprovalID: "approval-" + r.ID}},
		Approvals: []run.Approval{{
			ID: "approval-" + r.ID, Run: r.Ref, Status: run.Pending, Args: []byte(`{}`),
			CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour), Timeout: time.Hour,
		}},
		Park: true,
	})
	return agent.Parked, err
}

var errFull = errors.New("disk is full")

// bench is a dispatcher on a ledger.
type bench struct {
	*Dispatcher
	t   *testing.T
	log *sqlite.Ledger
	s   *script
}

func openLedger(t *testing.T) *sqlite.Ledger {
	t.Helper()
	log, err := sqlite.Open(t.Context(), sqlite.Config{
		Path: filepath.Join(t.TempDir(), "d", "l.db"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

// newBench makes a dispatcher with two chat places, one worker and a queue of two, on a ledger of its own.
func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	return newNode(t, openLedger(t), "me", change)
}

// newNode makes one of several dispatchers on a ledger.
func newNode(t *testing.T, log *sqlite.Ledger, owner string, change func(*Config)) *bench {
	t.Helper()
	s := &script{log: log}
	s.drive = s.finish
	cfg := Config{
		Store: log, Driver: s, Node: "node", Owner: owner, Chats: 2, Workers: 1, Queue: 2,
		Lease: 10 * time.Second, CrashLimit: 5,
		RunTimeout: time.Minute, Poll: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	b := &bench{New(cfg), t, log, s}
	t.Cleanup(b.stopNow)
	return b
}

// stopNow is a stop without grace.
func (b *bench) stopNow() {
	ended, stop := context.WithCancel(context.Background())
	stop()
	b.Close(ended)
}

func (b *bench) serve() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { b.Serve(ctx); close(done) }()
	b.t.Cleanup(func() { stop(); <-done })
}

func request(kind run.Kind, id string) run.Request {
	return run.Request{
		ID: id, SessionID: "s", Kind: kind, Identity: sdk.Identity{TenantKey: "t"},
		Messages: []run.Message{{Role: run.User, Content: "hi"}},
	}
}

func ref(id string) run.Ref { return run.Ref{Tenant: "t", ID: id} }

// await waits until the run is as wanted.
func (b *bench) await(id string, wanted func(run.Run) bool) run.Run {
	b.t.Helper()
	notice, stop := b.log.Watch(ref(id))
	defer stop()
	limit := time.After(time.Minute)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		r, err := b.log.Run(b.t.Context(), ref(id))
		if err != nil {
			b.t.Fatal(err)
		}
		if wanted(r) {
			return r
		}
		select {
		case <-notice:
		case <-poll.C:
		case <-limit:
			b.t.Fatalf("run %s stays %s %s", id, r.Status, r.Phase)
		}
	}
}

func (b *bench) awaitStatus(id string, status run.Status) run.Run {
	b.t.Helper()
	return b.await(id, func(r run.Run) bool { return r.Status == status })
}

func waitForEnd(ctx context.Context, _ run.Run) (agent.Outcome, error) {
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

// link is the way of one node to the ledger: it hears news of its own, and its heartbeat may be cut or held up.
type link struct {
	*sqlite.Ledger
	wake   chan struct{}
	cut    atomic.Bool // renewals fail
	paused atomic.Bool // nothing is renewed, and the node has not noticed yet
}

func (l *link) Wake() <-chan struct{} { return l.wake }

func (l *link) Renew(ctx context.Context, node ledger.Node, driven []run.Fence) ([]ledger.Held, error) {
	switch {
	case l.cut.Load():
		return nil, &run.Error{Code: run.CodeStore, Op: "renew", Cause: errFull}
	case l.paused.Load():
		held := make([]ledger.Held, len(driven))
		for i, fence := range driven {
			held[i].Ref = fence.Ref
		}
		return held, nil
	}
	return l.Ledger.Renew(ctx, node, driven)
}

// newPair makes two nodes that share a ledger. None of them serves yet.
func newPair(t *testing.T, change func(*Config)) (a, b *bench, ofA *link) {
	t.Helper()
	log := openLedger(t)
	links := []*link{{Ledger: log, wake: make(chan struct{}, 1)}, {Ledger: log, wake: make(chan struct{}, 1)}}
	done := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-log.Wake():
			}
			for _, l := range links {
				select {
				case l.wake <- struct{}{}:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
	with := func(l *link) func(*Config) {
		return func(cfg *Config) {
			cfg.Store, cfg.Poll = l, time.Second
			if change != nil {
				change(cfg)
			}
		}
	}
	return newNode(t, log, "a", with(links[0])), newNode(t, log, "b", with(links[1])), links[0]
}

// leaveBehind stores a run that a process claimed which is gone, and returns it.
func (b *bench) leaveBehind(kind run.Kind, id string) run.Run {
	b.t.Helper()
	r := newRun(request(kind, id), run.Running)
	r.Owner, r.Epoch, r.Attempts = "gone", 1, 1
	r, err := b.log.Create(b.t.Context(), r, ledger.Door{Lease: b.cfg.Lease})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// ends counts the terminal events of a run.
func (b *bench) ends(id string) (n int) {
	b.t.Helper()
	events, err := b.log.Events(b.t.Context(), ref(id), -1, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == run.SessionEnd || e.Kind == run.Errored {
			n++
		}
	}
	return n
}
