package chat

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// cancelTimeout bounds how long a client's leaving waits for its run to be cancelled.
const cancelTimeout = 10 * time.Second

// errLeft is the end of a client that is gone.
var errLeft = errors.New("client left")

// voice writes one stream in the words of one protocol.
type voice interface {
	// begin says which run it is.
	begin(r run.Run) error
	// tell says what an event means, and reports whether that was the end.
	tell(e run.Event) (over bool, err error)
	// fail ends a stream whose run cannot be followed further.
	fail(reason error) error
	keepAlive() error
	// leave makes sure that nothing more is written.
	leave()
}

// step is what a worker has to say to the goroutine of the request, one thing at a time.
type step struct {
	run   *run.Run
	event run.Event
	err   error
}

// visit is one client with its run. The worker creates the run and follows it; the request's goroutine waits, and is
// the only one that writes.
type visit struct {
	*face
	stream  *web.Stream
	voice   voice
	control *control
	steps   chan step   // closed when the worker is done, whatever ended it
	entered atomic.Bool // a worker has it
	begun   bool        // the stream is open
}

// attend serves one client from its request to the end of the stream.
func (f *face) attend(stream *web.Stream, request run.Request, voice voice) error {
	ctx, release := context.WithCancel(stream.Connection())
	v := &visit{face: f, stream: stream, voice: voice, steps: make(chan step)}
	v.control = &control{cancel: func(ref run.Ref, reason string) { f.cancel(ctx, ref, reason) }}
	var admission sync.WaitGroup
	defer v.control.stop(clientDisconnect) // whatever happened: a run whose end was told stays as it is
	defer admission.Wait()
	defer release()
	defer voice.leave()
	admission.Go(func() { v.admit(ctx, request) })
	err := v.wait(stream.Connection())
	if errors.Is(err, errLeft) || errors.Is(err, web.ErrStopping) {
		return nil
	}
	return err
}

// admit hands the client to a worker. While it waits for one, its leaving gives the place back.
func (v *visit) admit(ctx context.Context, request run.Request) {
	err := v.cfg.Worker.Do(ctx, func(ctx context.Context) error {
		v.entered.Store(true)
		v.work(ctx, request)
		return nil
	})
	if err != nil && !v.entered.Load() {
		_ = v.pass(ctx, step{err: unavailable()})
	}
}

// cancel ends a run that nobody listens to any more.
func (f *face) cancel(ctx context.Context, ref run.Ref, reason string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer stop()
	if _, err := f.cfg.Engine.Cancel(ctx, ref, reason, run.Idempotency{}); err != nil {
		f.cfg.Log.Error("cannot cancel a run", slog.String("run_id", ref.ID), slog.Any("error", err))
	}
}

// work is the worker's part. A client that left while it waited for a worker gets no run. Nobody can come back for the
// rest of this stream: when the service stops before its run is over, the client is told that it failed, and the run,
// which another node would go on with for nobody, is cancelled.
func (v *visit) work(ctx context.Context, request run.Request) {
	defer close(v.steps)
	if v.control.stopped() {
		return
	}
	r, err := v.cfg.Engine.Chat(context.WithoutCancel(ctx), request)
	if err != nil {
		_ = v.pass(ctx, step{err: err})
		return
	}
	v.control.started(r.Ref)
	if v.pass(ctx, step{run: &r}) != nil {
		return
	}
	tail := web.Tail{
		Log: v.cfg.Records, Ref: r.Ref, After: -1, Poll: v.cfg.Poll, Silence: v.cfg.KeepAlive,
		Ending: v.cfg.Closing,
		Each:   func(e run.Event) error { return v.pass(ctx, step{event: e}) },
		Idle:   func() error { return nil },
	}
	if err := tail.Follow(ctx); err != nil {
		_ = v.pass(ctx, step{err: err})
	}
}

// pass hands a step over, unless the client is gone.
func (v *visit) pass(ctx context.Context, s step) error {
	select {
	case v.steps <- s:
		return nil
	case <-ctx.Done():
		return errLeft
	}
}

// wait writes what the worker says until the stream is over or the client gone. A client that waits for a worker when
// its time is up, or when the service stops, hears that there was none.
func (v *visit) wait(connection context.Context) error {
	deadline := time.NewTimer(v.cfg.StreamTimeout)
	defer deadline.Stop()
	silence := time.NewTicker(v.cfg.KeepAlive)
	defer silence.Stop()
	closing := v.cfg.Closing
	for {
		select {
		case s, more := <-v.steps:
			if connection.Err() != nil {
				return errLeft
			}
			if over, err := v.take(s, more); over || err != nil {
				return err
			}
			silence.Reset(v.cfg.KeepAlive)
		case <-silence.C:
			if err := v.silent(); err != nil {
				return err
			}
		case <-closing:
			if closing = nil; !v.entered.Load() {
				return unavailable()
			}
		case <-connection.Done():
			return errLeft
		case <-deadline.C:
			return v.late()
		}
	}
}

// take writes one step and reports whether it was the last.
func (v *visit) take(s step, more bool) (over bool, err error) {
	switch {
	case !more:
		return true, v.broken(errors.New("the worker ended without an answer"))
	case s.err != nil:
		return true, v.broken(s.err)
	case s.run != nil:
		return false, v.begin(*s.run)
	}
	over, err = v.voice.tell(s.event)
	if err != nil {
		return true, errors.Join(errLeft, err)
	}
	if over {
		v.control.finish()
	}
	return over, nil
}

// begin opens the stream of a run.
func (v *visit) begin(r run.Run) error {
	v.begun = true
	err := v.stream.Open()
	if err == nil {
		err = v.voice.begin(r)
	}
	if err != nil {
		return errors.Join(errLeft, err)
	}
	return nil
}

// broken ends a stream whose run cannot be followed further. Before the stream has begun there still is an answer.
func (v *visit) broken(reason error) error {
	if !v.begun {
		return reason
	}
	if err := v.voice.fail(reason); err != nil {
		return errors.Join(errLeft, err)
	}
	v.control.stop(streamFailed)
	return reason
}

// silent says that the stream lives.
func (v *visit) silent() error {
	if !v.begun {
		return nil
	}
	if err := v.voice.keepAlive(); err != nil {
		return errors.Join(errLeft, err)
	}
	return nil
}

// late ends a connection whose time is up: as a disconnect, or where no run was begun, as a service that is busy.
func (v *visit) late() error {
	if v.begun {
		return errLeft
	}
	return unavailable()
}
