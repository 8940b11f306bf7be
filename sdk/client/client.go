// Package client calls a FastReAct service: it asks questions, follows runs, and answers approvals over HTTP. It
// promises bounded memory, typed errors, and event streams that continue where they broke off.
//
// It imports the standard library only and knows nothing of the service's insides, so any Go program may use it.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of Config.
const (
	DefaultURL           = "http://127.0.0.1:18741"
	DefaultMaxEventBytes = 64 << 20
	defaultAttempts      = 5
	defaultPause         = 500 * time.Millisecond
)

// Config says which service to call and as whom. The zero value calls DefaultURL without a token.
type Config struct {
	URL           string        // base URL; empty means DefaultURL
	Token         string        // service token; empty means none
	HTTP          *http.Client  // nil means a client of its own
	MaxEventBytes int           // largest event or answer; 0 means DefaultMaxEventBytes
	Attempts      int           // connections that may fail in a row before a stream gives up; 0 means 5
	Pause         time.Duration // wait before the second connection, doubled each time; 0 means half a second
}

// Client calls one service. It may be used from many goroutines. New makes one.
type Client struct {
	config Config
	base   *url.URL
	http   *http.Client
}

// New returns a client. It does not connect.
func New(config Config) (*Client, error) {
	if config.URL == "" {
		config.URL = DefaultURL
	}
	if config.MaxEventBytes <= 0 {
		config.MaxEventBytes = DefaultMaxEventBytes
	}
	if config.Attempts <= 0 {
		config.Attempts = defaultAttempts
	}
	if config.Pause <= 0 {
		config.Pause = defaultPause
	}
	base, err := url.Parse(strings.TrimRight(config.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("service URL %q: use a form like %s", config.URL, DefaultURL)
	}
	caller := http.Client{}
	if config.HTTP != nil {
		caller = *config.HTTP
	}
	caller.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{config: config, base: base, http: &caller}, nil
}

// get reads one JSON object into out and returns its bytes.
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) (json.RawMessage, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	request, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.exchange(request, out)
}

// post sends one JSON object, reads one into out and returns its bytes.
func (c *Client) post(ctx context.Context, path string, body, out any) (json.RawMessage, error) {
	return c.postKeyed(ctx, path, "", body, out)
}

// postKeyed is post under a key: where the connection breaks before the answer is there, the request is sent again, and
// the service answers it once. With no key it is sent once.
func (c *Client) postKeyed(ctx context.Context, path, key string, body, out any) (json.RawMessage, error) {
	for failed := 1; ; failed++ {
		request, err := c.request(ctx, http.MethodPost, path, body)
		if err != nil {
			return nil, err
		}
		setKey(request, key)
		raw, err := c.exchange(request, out)
		if key == "" || failed >= c.config.Attempts || !broke(err) {
			return raw, err
		}
		if err := pause(ctx, c.config.Pause<<(failed-1)); err != nil {
			return nil, err
		}
	}
}

// keyHeader names requests that are the same request.
const keyHeader = "Idempotency-Key"

func setKey(request *http.Request, key string) {
	if key != "" {
		request.Header.Set(keyHeader, key)
	}
}

// brokenError is the end of a request whose answer did not come, or not whole.
type brokenError struct {
	op    string
	cause error
}

func (e *brokenError) Error() string { return e.op + ": " + e.cause.Error() }

func (e *brokenError) Unwrap() error { return e.cause }

// broke reports whether a connection that stood broke: the service may have done what was asked.
func broke(err error) bool {
	var broken *brokenError
	var failed *net.OpError
	dialing := errors.As(err, &failed) && failed.Op == "dial"
	return errors.As(err, &broken) && !dialing && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, reader)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.config.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	return request, nil
}

// exchange sends a request and decodes the answer. An answer that is no success is an *Error.
func (c *Client) exchange(request *http.Request, out any) (json.RawMessage, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, &brokenError{"call service", err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, int64(c.config.MaxEventBytes)+1))
	if err != nil {
		return nil, &brokenError{"read answer", err}
	}
	if len(text) > c.config.MaxEventBytes {
		return nil, fmt.Errorf("read answer: %w", ErrTooLarge)
	}
	if response.StatusCode/100 != 2 {
		return nil, errorOf(response, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("decode answer of %s: %w", request.URL.Path, err)
	}
	return text, nil
}
