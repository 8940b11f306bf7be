package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// ErrSlow reports that a reader did not take what was sent in time and was dropped.
var ErrSlow = errors.New("reader is too slow")

// Stream sends server-sent events. Each write has a deadline of its own; a reader that misses it is dropped. It
// belongs to one goroutine.
type Stream struct {
	x          *Exchange
	control    *http.ResponseController
	due        atomic.Int64 // when the write under way must be done, Unix nanoseconds; 0 = none is under way
	connection context.Context
	leave      context.CancelFunc
	forget     func() bool
}

// Stream prepares a stream. Nothing is sent before Open, so that an error can still be answered as such.
func (x *Exchange) Stream() *Stream {
	s := &Stream{x: x, control: http.NewResponseController(x.writer)}
	ctx := x.Request.Context()
	s.connection, s.leave = context.WithCancel(context.WithoutCancel(ctx))
	s.forget = context.AfterFunc(ctx, s.closed)
	return s
}

// Connection returns a context that ends when the client closes the connection or the exchange is over. It does not
// end when the reader is dropped as slow.
func (s *Stream) Connection() context.Context { return s.connection }

// closed hears that the request's context ended. The server also ends it when a write misses its deadline: then, and
// only then, the deadline has passed.
func (s *Stream) closed() {
	if due := s.due.Load(); due != 0 && time.Now().UnixNano() >= due {
		return
	}
	s.leave()
}

// Open sends the header. Further headers are set on the exchange before.
func (s *Stream) Open() error {
	header := s.x.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	header.Set("X-Content-Type-Options", "nosniff")
	s.x.begun = true
	return s.timed(func() error {
		s.x.writer.WriteHeader(http.StatusOK)
		return nil
	})
}

// Send sends one event with value as its data, masked, on one line.
func (s *Stream) Send(id int64, event string, value any) error {
	return s.frame("id: "+strconv.FormatInt(id, 10)+"\n", event, value)
}

// SendUnnumbered sends one event as Send does, without an id: no reader can come back for what follows it.
func (s *Stream) SendUnnumbered(event string, value any) error { return s.frame("", event, value) }

func (s *Stream) frame(id, event string, value any) error {
	data, err := Encode(value)
	if err != nil {
		return fmt.Errorf("send %s: %w", event, err)
	}
	data = s.x.door.mask.JSON(data)
	var frame bytes.Buffer
	frame.Grow(len(data) + 64)
	frame.WriteString(id)
	frame.WriteString("event: ")
	frame.WriteString(event)
	frame.WriteString("\ndata: ")
	frame.Write(data)
	frame.WriteString("\n\n")
	return s.write(frame.Bytes())
}

// KeepAlive sends a comment.
func (s *Stream) KeepAlive() error { return s.write([]byte(": keepalive\n\n")) }

// Done ends the stream as every stream ends.
func (s *Stream) Done() error { return s.write([]byte("event: done\ndata: [DONE]\n\n")) }

func (s *Stream) write(frame []byte) error {
	return s.timed(func() error {
		_, err := s.x.writer.Write(frame)
		return err
	})
}

// timed runs one write and a flush under the deadline. After a missed deadline the stream is of no more use; due
// stays, for closed to read.
func (s *Stream) timed(write func() error) error {
	due := time.Now().Add(s.x.door.cfg.WriteTimeout)
	s.due.Store(due.UnixNano())
	if err := s.deadline(due); err != nil {
		return err
	}
	err := write()
	if err == nil {
		err = s.control.Flush()
	}
	switch {
	case err == nil || errors.Is(err, errors.ErrUnsupported):
		s.due.Store(0)
		return s.deadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.forget()
		return fmt.Errorf("write to stream: %w", ErrSlow)
	}
	s.leave()
	return fmt.Errorf("write to stream: %w", err)
}

// deadline sets the connection's write deadline, where the server has one.
func (s *Stream) deadline(at time.Time) error {
	err := s.control.SetWriteDeadline(at)
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return fmt.Errorf("set write deadline: %w", err)
}
