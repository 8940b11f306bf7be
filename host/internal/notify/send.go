package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/fastreact/fastreact/host/internal/run"
)

// errUnwanted reports a receiver that is gone for good (410).
var errUnwanted = errors.New("the receiver wants no more")

// courier is the client of a messenger. It follows no redirect: a notice is for the address that the operator named.
func courier(cfg Config) *http.Client {
	var c http.Client
	if cfg.HTTP != nil {
		c = *cfg.HTTP
	}
	c.Timeout = cfg.Timeout
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Sign returns the value of X-FastReAct-Signature: "v1=" and the hexadecimal HMAC-SHA256 of the timestamp, a dot and
// the body under the secret.
func Sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Ping sends a message about nothing, signed like any other, and reports whether the receiver takes it.
func (m *Messenger) Ping(ctx context.Context) error {
	return m.send(ctx, message{
		Schema: Schema, Event: "ping", EventID: run.NewID("ping-"), CreatedAt: stamp(m.cfg.Clock()),
	}, 1)
}

// send tries once.
func (m *Messenger) send(ctx context.Context, said message, attempt int) error {
	body, err := said.encode()
	if err != nil {
		return fmt.Errorf("encode notice: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make notice: %w", err)
	}
	timestamp := strconv.FormatInt(m.cfg.Clock().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "fastreact")
	request.Header.Set("X-FastReAct-Event", said.Event)
	request.Header.Set("X-FastReAct-Event-Id", said.EventID)
	request.Header.Set("X-FastReAct-Attempt", strconv.Itoa(attempt))
	request.Header.Set("X-FastReAct-Timestamp", timestamp)
	request.Header.Set("X-FastReAct-Signature", Sign(m.cfg.Secret, timestamp, body))
	response, err := m.http.Do(request)
	if err != nil {
		return fmt.Errorf("send notice: %w", hideURL(err))
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	switch {
	case response.StatusCode/100 == 2:
		return nil
	case response.StatusCode == http.StatusGone:
		return errUnwanted
	case response.StatusCode/100 == 3:
		return fmt.Errorf("send notice: the receiver answered %d; redirects are not followed", response.StatusCode)
	}
	return fmt.Errorf("send notice: the receiver answered %d", response.StatusCode)
}
