package fastreact

import (
	"context"
	"errors"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// chat starts a run and answers with its stream, or with its summary when it is over.
func (f *face) chat(x *web.Exchange) error {
	a, err := f.readRequest(x, run.Chat)
	if err != nil {
		return err
	}
	if a.stream {
		return f.chatStream(x, a.request)
	}
	return f.chatAnswer(x, a.request)
}

func (f *face) chatStream(x *web.Exchange, request run.Request) error {
	stream := x.Stream()
	r, err := f.cfg.Engine.Chat(stream.Connection(), request)
	if err != nil {
		return err
	}
	return f.send(x, stream, r, -1)
}

// chatAnswer waits for the end of the run. A client that leaves is not answered, and the engine ends its run.
func (f *face) chatAnswer(x *web.Exchange, request run.Request) error {
	ctx := x.Request.Context()
	r, err := f.cfg.Engine.Chat(ctx, request)
	if err != nil {
		return err
	}
	setRunHeader(x.Header(), r)
	events, err := f.wait(ctx, r)
	if err == nil {
		r, err = f.cfg.Records.Run(ctx, r.Ref)
	}
	if errors.Is(err, web.ErrStopping) {
		return &web.Refusal{
			Status: http.StatusServiceUnavailable, Code: string(run.CodeNotReady), RetryAfter: retryAfter,
			Sentence: "The service is stopping. The run goes on: read it under its id.",
		}
	}
	if err != nil {
		return gone(ctx, err)
	}
	return x.JSON(http.StatusOK, f.toAnswer(r, events))
}

// wait returns the events of a run when it is over.
func (f *face) wait(ctx context.Context, r run.Run) (events []run.Event, err error) {
	if err := compacted(r, -1); err != nil {
		return nil, err
	}
	t := f.tail(r, -1)
	t.Each = func(e run.Event) error {
		events = append(events, e)
		return nil
	}
	t.Idle = func() error { return nil }
	return events, f.nowCompacted(ctx, r.Ref, t.Follow(ctx))
}

// gone drops the error of a client that has left.
func gone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tail returns a tail of r that passes on nothing yet. A store that is away for a while ends no stream: to a chat that
// would be a client that left.
func (f *face) tail(r run.Run, after int64) *web.Tail {
	return &web.Tail{
		Log: f.cfg.Records, Ref: r.Ref, After: after, Poll: f.cfg.Poll, Silence: f.cfg.KeepAlive, Ending: f.cfg.Closing,
		Patient: true,
	}
}

// send streams a run after an event until it is over, the service stops or the reader is gone or dropped; none is a
// failure of the service. Only a stream that is whole has an end: any other reader comes back for the rest, here or to
// another node.
func (f *face) send(x *web.Exchange, stream *web.Stream, r run.Run, after int64) error {
	if err := compacted(r, after); err != nil {
		return err
	}
	setRunHeader(x.Header(), r)
	err := stream.Open()
	if err == nil {
		t := f.tail(r, after)
		t.Each = func(e run.Event) error { return stream.Send(e.Sequence, string(e.Kind), f.toFrame(r, e)) }
		t.Idle = stream.KeepAlive
		err = t.Follow(x.Request.Context())
	}
	if err == nil {
		err = stream.Done()
	}
	if errors.Is(err, web.ErrSlow) || errors.Is(err, web.ErrStopping) {
		return nil
	}
	return gone(x.Request.Context(), err)
}

func setRunHeader(header http.Header, r run.Run) {
	header.Set("X-FastReAct-Run-ID", r.ID)
	header.Set("X-FastReAct-Session-ID", r.SessionID)
	header.Set("X-FastReAct-Event-Schema", Schema)
}
