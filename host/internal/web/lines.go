package web

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// Lines sends JSON values, one a line. Each write has a deadline of its own. It belongs to one goroutine.
type Lines struct {
	x       *Exchange
	control *http.ResponseController
}

// Lines prepares an answer of lines. Nothing is sent before the first line or the end, so that an error can still be
// answered as such.
func (x *Exchange) Lines() *Lines {
	return &Lines{x, http.NewResponseController(x.writer)}
}

// Send sends one value, masked.
func (l *Lines) Send(value any) error {
	encoded, err := Encode(value)
	if err != nil {
		return fmt.Errorf("send line: %w", err)
	}
	return l.write(append(l.x.door.mask.JSON(encoded), '\n'))
}

// End ends the answer, also one without lines.
func (l *Lines) End() error { return l.write(nil) }

func (l *Lines) write(line []byte) error {
	err := l.control.SetWriteDeadline(time.Now().Add(l.x.door.cfg.WriteTimeout))
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("send line: %w", err)
	}
	if !l.x.begun {
		header := l.x.Header()
		header.Set("Content-Type", "application/x-ndjson")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		l.x.begun = true
		l.x.writer.WriteHeader(http.StatusOK)
	}
	_, err = l.x.writer.Write(line)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("send line: %w", ErrSlow)
	case err != nil:
		return fmt.Errorf("send line: %w", err)
	}
	return nil
}
