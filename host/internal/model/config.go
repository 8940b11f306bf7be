package model

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// OpenAIConfig says where an OpenAI-compatible model lives and how long to wait for it. Zero durations and sizes
// mean the defaults.
type OpenAIConfig struct {
	BaseURL       string        // up to and with the version, such as https://api.example.com/v1
	Name          string        // model asked for when a request names none
	APIKey        string        // sent to BaseURL only; empty sends none
	FirstByte     time.Duration // from sending to the first byte of the body; 60 s
	Idle          time.Duration // between two bytes; 60 s
	Total         time.Duration // for one reply, tries and pauses included; 300 s
	MaxRetries    int           // tries after the first, before the first token only; 0 means none
	MaxReplyBytes int64         // of one response body; 8 MiB
	Proxy         *url.URL      // nil means none: proxies of the environment are not used, see newTransport
	Transport     http.RoundTripper
	Log           *slog.Logger
}

const (
	defaultWait       = 60 * time.Second
	defaultTotal      = 300 * time.Second
	defaultReplyBytes = 8 << 20
	maxRetryAfter     = 30 * time.Second
	tailPatience      = 5 * time.Second // for usage after the finish reason
)

func (c OpenAIConfig) withDefaults() OpenAIConfig {
	if c.FirstByte <= 0 {
		c.FirstByte = defaultWait
	}
	if c.Idle <= 0 {
		c.Idle = defaultWait
	}
	if c.Total <= 0 {
		c.Total = defaultTotal
	}
	if c.MaxReplyBytes <= 0 {
		c.MaxReplyBytes = defaultReplyBytes
	}
	if c.Transport == nil {
		c.Transport = newTransport(c.Proxy)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// newTransport clones the default transport without its proxies of the environment: prompts and the key go to the
// configured address and to a proxy only when the configuration names it.
func newTransport(proxy *url.URL) http.RoundTripper {
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = standard.Clone()
	}
	transport.Proxy = nil
	if proxy != nil {
		transport.Proxy = http.ProxyURL(proxy)
	}
	transport.MaxIdleConnsPerHost = 64
	transport.IdleConnTimeout = 10 * time.Second // a burst leaves nothing behind for long
	return transport
}

// refuseRedirect keeps a vendor from sending the conversation elsewhere.
func refuseRedirect(*http.Request, []*http.Request) error { return errRedirect }
