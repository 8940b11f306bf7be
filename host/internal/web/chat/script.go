package chat

import (
	"errors"
	"fmt"
)

// errOrder reports an event that may not come now. Nothing of it was sent.
var errOrder = errors.New("event out of order")

// sender takes the frames of one stream.
type sender interface {
	SendUnnumbered(event string, value any) error
	KeepAlive() error
}

// phase is how much of a stream was sent.
type phase int

const (
	begins  phase = iota // nothing
	running              // metadata
	over                 // all of it, or all that ever will be
)

// script writes one stream: "metadata -> status* -> content|failure -> done". It has no way to write done by itself:
// done follows the one content or failure that there is and says what became of it. Whatever comes out of order, and
// whatever comes after the client left or a write failed, is not sent. The zero value with a sender is ready; it
// belongs to one goroutine.
type script struct {
	to    sender
	phase phase
	last  statusCode
}

// metadata begins the stream of a stored run.
func (s *script) metadata(of metadata) error {
	if s.phase != begins {
		return errOrder
	}
	s.phase = running
	return s.send("metadata", of)
}

// status says how far the work is. The status that was sent last is not sent again.
func (s *script) status(code statusCode) error {
	if s.phase != running {
		return errOrder
	}
	if code == s.last {
		return nil
	}
	s.last = code
	return s.send("status", status{code, code.message()})
}

// release sends the answer, and done.
func (s *script) release(answer content) error {
	return s.end("content", answer, answer.outcome())
}

// fail says why there is no answer, and done.
func (s *script) fail(code failureCode) error {
	return s.end("failure", failure{code, code.message()}, failed)
}

// end sends the last two events.
func (s *script) end(event string, value any, as outcome) error {
	if s.phase != running {
		return errOrder
	}
	if err := s.send(event, value); err != nil {
		return err
	}
	err := s.send("done", done{as})
	s.phase = over
	return err
}

// keepAlive sends a comment between two events.
func (s *script) keepAlive() error {
	if s.phase != running {
		return errOrder
	}
	return s.kept("keepalive", s.to.KeepAlive())
}

// leave ends the stream for a client that is gone: nothing is sent any more.
func (s *script) leave() { s.phase = over }

func (s *script) send(event string, value any) error {
	return s.kept(event, s.to.SendUnnumbered(event, value))
}

// kept closes the stream after a write that failed: nobody knows how much of it arrived.
func (s *script) kept(event string, err error) error {
	if err == nil {
		return nil
	}
	s.leave()
	return fmt.Errorf("send %s: %w", event, err)
}
