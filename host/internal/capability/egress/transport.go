package egress

import (
	"io"
	"net/http"
)

// bridgeRedirects is how many redirects a bridge's request follows.
const bridgeRedirects = 5

// Transport is the way out for a native bridge, which reads answers as they come and bounds them itself. It follows
// redirects as far as the grants reach, with the same request only. It may be used from many goroutines.
type Transport struct {
	grants  Grants
	scanner Scanner
	pool    *http.Transport
	direct  bool // redirects are the caller's business
}

var _ http.RoundTripper = (*Transport)(nil)

// Transport returns a way out with connections of its own. An answer that shows one of the values breaks off before the
// value is whole.
func (b *Broker) Transport(grants Grants, values []string) *Transport {
	return &Transport{grants: grants, scanner: NewScanner(values), pool: b.connections(grants)}
}

// Direct returns a way out with connections of its own that follows no redirect: it is answered as it came.
func (b *Broker) Direct(grants Grants) *Transport {
	return &Transport{grants: grants, scanner: NewScanner(nil), pool: b.connections(grants), direct: true}
}

// CloseIdleConnections drops the connections that are not in use.
func (t *Transport) CloseIdleConnections() { t.pool.CloseIdleConnections() }

// RoundTrip makes one request. It has no time limit but that of the request's context. Every error is a *Refusal.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.trip(request)
	if err != nil {
		return nil, asRefusal(request.Context(), err)
	}
	return response, nil
}

func (t *Transport) trip(request *http.Request) (*http.Response, error) {
	current, at, err := t.checked(request)
	if err != nil {
		closeBody(request)
		return nil, err
	}
	for range bridgeRedirects + 1 {
		response, err := t.pool.RoundTrip(current)
		if err != nil {
			return nil, err
		}
		method, withBody := after(response.StatusCode, current.Method)
		if t.direct || !redirects(response) || method != current.Method || !withBody && current.Body != nil {
			return t.guard(response)
		}
		_ = response.Body.Close()
		if current, err = t.next(response, current, request, at); err != nil {
			return nil, err
		}
	}
	return nil, refuse(RedirectRefused, "The answer redirects more than %d times.", bridgeRedirects)
}

// checked returns the request as it is sent. It was judged by the parts it is made of.
func (t *Transport) checked(request *http.Request) (*http.Request, target, error) {
	plain := *request.URL
	plain.User = nil
	at, out, err := readURL(&plain)
	if err == nil {
		err = t.grants.allows(at, request.Method)
	}
	if err != nil {
		return nil, target{}, err
	}
	sent := request.Clone(request.Context())
	sent.URL, sent.Host = out, out.Host
	return sent, at, nil
}

// next returns the request that a redirect asks for. Another origin is never followed: the bridge's headers are meant
// for one.
func (t *Transport) next(response *http.Response, current, first *http.Request, at target) (*http.Request, error) {
	to, out, err := locate(response, at, current.URL, t.grants, current.Method)
	if err == nil && to != at {
		err = refuse(RedirectRefused, "The answer is a redirect to another origin.")
	}
	if err != nil {
		return nil, err
	}
	body, err := again(first)
	if err != nil {
		return nil, err
	}
	following := current.Clone(first.Context())
	following.URL, following.Host, following.Body = out, out.Host, body
	return following, nil
}

func (t *Transport) guard(response *http.Response) (*http.Response, error) {
	for name, values := range response.Header {
		for _, value := range values {
			if t.scanner.Finds([]byte(name)) || t.scanner.Finds([]byte(value)) {
				_ = response.Body.Close()
				return nil, refuse(SecretInResponse, "The answer shows a secret.")
			}
		}
	}
	response.Body = &guardedBody{ReadCloser: response.Body, window: window{scanner: t.scanner}}
	return response, nil
}

// guardedBody fails where a secret would be whole.
type guardedBody struct {
	io.ReadCloser
	window window
	failed error
}

// Read reads from the body.
func (b *guardedBody) Read(buffer []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.ReadCloser.Read(buffer)
	if n > 0 && b.window.finds(buffer[:n]) {
		clear(buffer[:n])
		b.failed = refuse(SecretInResponse, "The answer shows a secret.")
		return 0, b.failed
	}
	return n, err
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
}

// again returns the body of a request anew.
func again(request *http.Request) (io.ReadCloser, error) {
	switch {
	case request.Body == nil || request.Body == http.NoBody:
		return request.Body, nil
	case request.GetBody == nil:
		return nil, refuse(RedirectRefused, "The answer is a redirect, and the request cannot be sent again.")
	}
	return request.GetBody()
}
