package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrMalformed reports an event that is no JSON object of the expected shape.
var ErrMalformed = errors.New("malformed event")

// errDone reports that the service ended the stream.
var errDone = errors.New("stream is complete")

// stream is the events of one run. A connection that breaks is taken up again behind the last event.
type stream struct {
	client *Client
	runID  string
	last   int64 // sequence of the last event; -1 before the first
	body   io.ReadCloser
	frames *frames
	ended  bool // the terminal event was read
	failed int  // connections that failed in a row
}

// Chat asks a question and returns its events as they happen; the last pair holds an error when the stream could
// not be read to its end. When a connection breaks, the run is cancelled unless the request says OnDisconnect
// "continue"; what was missed is read either way. Leaving the loop or ending ctx closes the connection.
func (c *Client) Chat(ctx context.Context, request Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{client: c, last: -1}
		sent, err := c.request(ctx, http.MethodPost, "/v1/chat/completions", asked{request, true})
		if err == nil {
			setKey(sent, request.IdempotencyKey)
			err = s.open(sent)
		}
		s.pass(ctx, err, yield)
	}
}

// Follow returns the events of a run behind the sequence after (-1 = all), then those that are still to come, as
// Chat does. Where the next event is not kept any more, the error is an *Error with code events_compacted.
func (c *Client) Follow(ctx context.Context, runID string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{client: c, runID: runID, last: after}
		s.pass(ctx, s.reopen(ctx), yield)
	}
}

// pass hands events to yield until the stream or the wish for more ends.
func (s *stream) pass(ctx context.Context, err error, yield func(Event, error) bool) {
	defer s.close()
	for err == nil {
		var event Event
		event, err = s.next(ctx)
		if err == nil && !yield(event, nil) {
			return
		}
	}
	if !errors.Is(err, errDone) {
		yield(Event{}, err)
	}
}

// next returns the next event that was not seen before, or errDone.
func (s *stream) next(ctx context.Context) (Event, error) {
	for {
		event, isNew, err := s.read()
		switch {
		case err == nil && isNew:
			return event, nil
		case err == nil:
			continue
		case errors.Is(err, errDone), errors.Is(err, ErrTooLarge), errors.Is(err, ErrMalformed):
			return Event{}, err
		case s.ended:
			return Event{}, errDone
		case ctx.Err() != nil:
			return Event{}, context.Cause(ctx)
		}
		if err := s.resume(ctx, err); err != nil {
			return Event{}, err
		}
	}
}

// read returns the next event of this connection, and whether it is behind the last one.
func (s *stream) read() (event Event, isNew bool, err error) {
	one, err := s.frames.next()
	if err != nil {
		return Event{}, false, err
	}
	if one.event == "done" {
		return Event{}, false, errDone
	}
	if err := json.Unmarshal(one.data, &event); err != nil {
		return Event{}, false, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	event.Raw = one.data
	if event.RunID != "" {
		s.runID = event.RunID
	}
	if one.id != "" && event.Sequence <= s.last {
		return Event{}, false, nil
	}
	if one.id != "" {
		s.last = event.Sequence
	}
	s.failed = 0
	s.ended = event.Terminal()
	return event, true, nil
}

// resume connects again until it works, the service refuses, or the attempts are used up.
func (s *stream) resume(ctx context.Context, cause error) error {
	for {
		s.failed++
		if s.runID == "" || s.failed >= s.client.config.Attempts {
			return fmt.Errorf("read events: %w", tooEarly(cause))
		}
		if err := pause(ctx, s.client.config.Pause<<(s.failed-1)); err != nil {
			return err
		}
		cause = s.reopen(ctx)
		var refused *Error
		if cause == nil || errors.As(cause, &refused) && refused.Status != http.StatusServiceUnavailable {
			return cause
		}
	}
}

// tooEarly says that an end was not expected.
func tooEarly(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// reopen connects behind the last event.
func (s *stream) reopen(ctx context.Context) error {
	request, err := s.client.request(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(s.runID)+"/stream", nil)
	if err != nil {
		return err
	}
	if s.last >= 0 {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(s.last, 10))
	}
	return s.open(request)
}

// open sends the request and makes its answer the stream's connection.
func (s *stream) open(request *http.Request) error {
	request.Header.Set("Accept", "text/event-stream")
	response, err := s.client.http.Do(request)
	if err != nil {
		return fmt.Errorf("call service: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // the status says enough when this fails
		return errorOf(response, text)
	}
	s.close()
	if id := response.Header.Get("X-FastReAct-Run-ID"); id != "" {
		s.runID = id
	}
	s.body, s.frames = response.Body, newFrames(response.Body, s.client.config.MaxEventBytes)
	return nil
}

func (s *stream) close() {
	if s.body != nil {
		_ = s.body.Close() // nothing more is read from it
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
