package loopback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Config is what a client is made of. Endpoint and Model are required; zero limits mean the defaults.
type Config struct {
	Endpoint    string        // as Check allows it
	Model       string        // its name, as the endpoint knows it
	Timeout     time.Duration // for one answer, to its last byte; 30 s
	MaxRequest  int           // bytes of one body that is sent; 131072
	MaxResponse int           // bytes of one body that is read; 262144
}

const (
	defaultTimeout  = 30 * time.Second
	defaultRequest  = 128 << 10
	defaultResponse = 256 << 10
	maxHeader       = 16 << 10 // bytes of an answer's header
	dialPatience    = 5 * time.Second
)

// errSlow is why a request was given up.
var errSlow = errors.New("no whole answer in time")

// Client asks one model. It keeps no connection and may be used from many goroutines.
type Client struct {
	cfg  Config
	url  string
	dial func(ctx context.Context) (net.Conn, error)
	http *http.Client
}

// New returns a client, or ErrEndpoint. It contacts nobody.
func New(cfg Config) (*Client, error) {
	address, err := read(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("model endpoint: %w", err)
	}
	if cfg.Model == "" {
		return nil, errors.New("model endpoint: want the name of a model")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxRequest <= 0 {
		cfg.MaxRequest = defaultRequest
	}
	if cfg.MaxResponse <= 0 {
		cfg.MaxResponse = defaultResponse
	}
	dialer := net.Dialer{Timeout: dialPatience}
	dial := func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", address.String()) }
	transport := &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
	return &Client{
		cfg: cfg, url: "http://" + address.String() + "/v1/chat/completions", dial: dial,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Reachable reports whether somebody listens at the endpoint. Nothing is said to it.
func (c *Client) Reachable(ctx context.Context) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", localagent.ErrUnavailable, err)
	}
	return conn.Close()
}

// Complete asks the model once. It returns localagent.ErrTooLarge, ErrUnavailable or ErrProtocol, or the cause of ctx
// when that ended.
func (c *Client) Complete(ctx context.Context, messages []localagent.Message) (string, error) {
	body, err := c.body(messages)
	if err != nil {
		return "", err
	}
	patient, done := context.WithTimeoutCause(ctx, c.cfg.Timeout, errSlow)
	defer done()
	answer, err := c.exchange(patient, body)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case patient.Err() != nil:
		return "", fmt.Errorf("%w: %w", localagent.ErrUnavailable, context.Cause(patient))
	}
	return "", err
}

// body writes what is sent.
func (c *Client) body(messages []localagent.Message) ([]byte, error) {
	body, err := run.Encode(struct {
		Model       string               `json:"model"`
		Messages    []localagent.Message `json:"messages"`
		Temperature int                  `json:"temperature"`
		Stream      bool                 `json:"stream"`
	}{c.cfg.Model, messages, 0, false})
	if err != nil {
		return nil, fmt.Errorf("ask the model: %w", err)
	}
	if len(body) > c.cfg.MaxRequest {
		return nil, fmt.Errorf("%w: %d bytes", localagent.ErrTooLarge, len(body))
	}
	return body, nil
}

// exchange sends a body and reads the answer to it.
func (c *Client) exchange(ctx context.Context, sent []byte) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(sent))
	if err != nil {
		return "", fmt.Errorf("ask the model: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "fastreact")
	response, err := c.http.Do(request)
	if err != nil {
		return "", unreached(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%w: status %d", localagent.ErrUnavailable, response.StatusCode)
	}
	body := &bounded{response.Body, c.cfg.MaxResponse}
	switch media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); media {
	case "application/json":
		return whole(body)
	case "text/event-stream":
		return joined(body, c.cfg.MaxResponse)
	}
	return "", fmt.Errorf("%w: another content type", localagent.ErrProtocol)
}

// unreached says why no answer began. What the endpoint wrote instead of one is no part of it.
func unreached(err error) error {
	var network *net.OpError
	if errors.As(err, &network) {
		return fmt.Errorf("%w: %w", localagent.ErrUnavailable, network)
	}
	return fmt.Errorf("%w: no answer that is HTTP", localagent.ErrUnavailable)
}
