package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Chat stores a chat run and drives it at once. When connection ends before the run does, the run is cancelled,
// unless the request is detached. A run in turn begins when the earlier ones of its session are over. It fails with
// CodeSaturated when all chat places are taken and CodeRunExists when the id is. A request that repeats an earlier one
// gets that one's run and is no more than a reader of it.
func (d *Dispatcher) Chat(connection context.Context, request run.Request) (run.Run, error) {
	if r, err := d.repeated(connection, request); !errors.Is(err, ledger.ErrUnknown) {
		return r, err
	}
	leave, err := d.enter(d.chats)
	if err != nil {
		return run.Run{}, err
	}
	asked := time.Now()
	wanted := newRun(request, run.Running)
	wanted.Owner, wanted.Epoch, wanted.Attempts = d.cfg.Owner, 1, 1
	r, err := d.create(connection, wanted)
	if err != nil {
		leave()
		d.drives.Done()
		return d.orRepeated(connection, request, err)
	}
	v := d.take(r, asked)
	go func() {
		defer d.drives.Done()
		defer leave()
		forget := d.attend(connection, r)
		if d.converse(v, r) {
			forget()
		}
	}()
	return r, nil
}

// Submit queues a background run. It fails with CodeSaturated when the queue is full and CodeRunExists when the id is
// taken. A request that repeats an earlier one gets that one's run.
func (d *Dispatcher) Submit(ctx context.Context, request run.Request) (run.Run, error) {
	if r, err := d.repeated(ctx, request); !errors.Is(err, ledger.ErrUnknown) {
		return r, err
	}
	if d.Draining() {
		return run.Run{}, notReady()
	}
	r, err := d.create(ctx, newRun(request, run.Queued))
	if err != nil {
		return d.orRepeated(ctx, request, err)
	}
	d.interrupt(ctx, r)
	return r, nil
}

func newRun(request run.Request, status run.Status) run.Run {
	request.Multitask = request.Multitask.OrDefault(request.SessionMemory)
	return run.Run{
		Ref:       run.Ref{Tenant: run.TenantKey(request.Identity.TenantKey), ID: request.ID},
		SessionID: request.SessionID,
		Kind:      request.Kind,
		Status:    status,
		Request:   request,
	}
}

// create stores a new run where the queue and the session let it in. Who asked may leave meanwhile: the run may be
// stored all the same, and then it must be driven, or cancelled.
func (d *Dispatcher) create(ctx context.Context, r run.Run) (run.Run, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer stop()
	door := ledger.Door{Alone: r.Request.Multitask == run.Reject}
	if r.Request.Multitask == run.Interrupt {
		door.Interrupts = interrupted
	}
	if r.Status == run.Queued {
		door.Waiting = d.cfg.Queue
	} else {
		door.Lease = d.cfg.Lease
	}
	stored, err := d.cfg.Store.Create(ctx, r, door)
	switch {
	case errors.Is(err, ledger.ErrFull):
		return run.Run{}, saturated("submit")
	case errors.Is(err, ledger.ErrBusy):
		return run.Run{}, &run.Error{
			Code: run.CodeSessionBusy, Op: "admit run", Sentence: "Another run of this session is not finished.",
		}
	}
	return stored, err
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
		return sync.OnceFunc(func() { <-places }), nil
	default:
		return nil, saturated("chat")
	}
}

func saturated(op string) error {
	return &run.Error{Code: run.CodeSaturated, Sentence: "The service is busy. Try again later.", Op: op}
}

func notReady() error {
	return &run.Error{Code: run.CodeNotReady, Sentence: "The service is stopping. Try again later.", Op: "admit run"}
}
