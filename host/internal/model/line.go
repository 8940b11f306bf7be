package model

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	emptyLines    = 1 << 20  // comments and blank lines between two chunks; the size limit bounds them too
	maxErrorBytes = 64 << 10 // of a refusal's body
	maxRetryText  = 64       // of a Retry-After header
)

// line is one request on its way: it restores what the library leaves out, remembers what the library drops, and
// bounds what comes back in size and time. It serves one attempt.
type line struct {
	http  *http.Client
	limit int64
	asked Request
	watch *watchdog
	sent  bool
	after time.Duration // Retry-After of a refusal
}

// Do sends the request. It is what the library calls instead of an http.Client.
func (l *line) Do(request *http.Request) (*http.Response, error) {
	if err := l.restore(request); err != nil {
		return nil, fmt.Errorf("prepare request: %w", err)
	}
	l.sent = true
	response, err := l.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest {
		_ = response.Body.Close()
		return nil, errRedirect
	}
	if response.StatusCode >= http.StatusBadRequest {
		l.after = retryAfter(response.Header.Get("Retry-After"), time.Now())
		response.Body = body{io.LimitReader(response.Body, maxErrorBytes), response.Body}
		return response, nil
	}
	response.Body = body{&meter{source: response.Body, left: l.limit, watch: l.watch}, response.Body}
	return response, nil
}

// restore puts the request on the wire exactly: the library drops a temperature of zero and empty tool results.
func (l *line) restore(request *http.Request) error {
	sent, err := io.ReadAll(request.Body)
	if err != nil {
		return err
	}
	if sent, err = restoreOmitted(sent, l.asked); err != nil {
		return err
	}
	request.Body = io.NopCloser(bytes.NewReader(sent))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	request.ContentLength = int64(len(sent))
	return nil
}

// retryAfter reads seconds or a date. What cannot be read, or lies in the past, is no wish.
func retryAfter(header string, now time.Time) time.Duration {
	if header == "" || len(header) > maxRetryText {
		return 0
	}
	if seconds, err := strconv.ParseFloat(header, 64); err == nil {
		return time.Duration(min(max(seconds, 0), maxRetryAfter.Seconds()) * float64(time.Second))
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// body reads from one and closes the other.
type body struct {
	io.Reader
	io.Closer
}

// meter counts a body's bytes and tells the watchdog about them.
type meter struct {
	source io.Reader
	left   int64
	watch  *watchdog
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLong
	}
	n, err := m.source.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	if n > 0 {
		m.watch.heard()
	}
	return n, err
}

// watchdog ends an attempt whose vendor is silent for too long. It is used by the goroutine that reads.
type watchdog struct {
	idle  time.Duration
	end   context.CancelCauseFunc
	timer *time.Timer
}

// watch waits for the first byte.
func watch(cfg OpenAIConfig, end context.CancelCauseFunc) *watchdog {
	return &watchdog{
		idle: cfg.Idle, end: end,
		timer: time.AfterFunc(cfg.FirstByte, func() { end(errFirstByte) }),
	}
}

// heard starts the wait for the next byte.
func (w *watchdog) heard() { w.await(w.idle, errIdle) }

// tail waits a little for what may follow the finish reason.
func (w *watchdog) tail() {
	w.idle = min(w.idle, tailPatience)
	w.await(w.idle, errTail)
}

func (w *watchdog) await(patience time.Duration, cause error) {
	w.timer.Stop()
	w.timer = time.AfterFunc(patience, func() { w.end(cause) })
}

func (w *watchdog) stop() { w.timer.Stop() }
