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
	return f.send(x, stream, r, f.tail(r, -1))
}

// chatAnswer waits for the end of the run. A client that leaves is not answered, and the engine ends its run.
func (f *face) chatAnswer(x *web.Exchange, request run.Request) error {
	ctx := x.Request.Context()
	r, err := f.cfg.Engine.Chat(ctx, request)
	if err != nil {
		return err
	}
	var events []run.Event
	t := f.tail(r, -1)
	t.Each = func(e run.Event) error {
		events = append(events, e)
		return nil
	}
	t.Idle = func() error { return nil }
	if err := t.Follow(ctx); err != nil {
		return gone(ctx, err)
	}
	r, err = f.cfg.Records.Run(ctx, r.Ref)
	if err != nil {
		return gone(ctx, err)
	}
	setRunHeader(x.Header(), r)
	return x.JSON(http.StatusOK, f.toAnswer(r, events))
}

// gone drops the error of a client that has left.
func gone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tail returns a tail of r that passes on nothing yet.
func (f *face) tail(r run.Run, after int64) *web.Tail {
	return &web.Tail{Log: f.cfg.Records, Ref: r.Ref, After: after, Poll: f.cfg.Poll, Silence: f.cfg.KeepAlive}
}

// send streams a run until it is over or the reader is gone or dropped; neither is a failure of the service.
func (f *face) send(x *web.Exchange, stream *web.Stream, r run.Run, t *web.Tail) error {
	setRunHeader(x.Header(), r)
	err := stream.Open()
	if err == nil {
		t.Each = func(e run.Event) error { return stream.Send(e.Sequence, string(e.Kind), f.toFrame(r, e)) }
		t.Idle = stream.KeepAlive
		err = t.Follow(x.Request.Context())
	}
	if err == nil {
		err = stream.Done()
	}
	if errors.Is(err, web.ErrSlow) {
		return nil
	}
	return gone(x.Request.Context(), err)
}

func setRunHeader(header http.Header, r run.Run) {
	header.Set("X-FastReAct-Run-ID", r.ID)
	header.Set("X-FastReAct-Session-ID", r.SessionID)
	header.Set("X-FastReAct-Event-Schema", Schema)
}
