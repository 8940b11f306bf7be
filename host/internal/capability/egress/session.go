package egress

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Policy is what one plugin may do. It never changes.
type Policy struct {
	Grants Grants
	Vault  Vault
	Limits Limits
}

// Limits bounds one call of a guest. Zero allows nothing.
type Limits struct {
	Requests  int   // requests, redirects not counted
	Bytes     int64 // URLs, headers and bodies of all requests and answers together
	Redirects int   // in a row
}

// Session is one call of a guest. It keeps connections for that long and no longer. One goroutine uses it.
type Session struct {
	broker   *Broker
	policy   Policy
	pool     *http.Transport // nil until the first request
	requests int
	moved    int64
}

// Session begins a call. Close it when the call is over.
func (b *Broker) Session(policy Policy) *Session { return &Session{broker: b, policy: policy} }

// Close drops every connection of the call.
func (s *Session) Close() {
	if s.pool != nil {
		s.pool.CloseIdleConnections()
	}
}

// Send makes one request, follows its redirects and returns the whole answer, if all of it is granted. It ends with ctx
// at the latest. Every error is a *Refusal. This is the one way to the network for a guest of any dialect.
func (s *Session) Send(ctx context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, s.broker.config.Timeout)
	defer cancel()
	response, err := s.send(ctx, request)
	if err != nil {
		return sdk.HTTPResponse{}, asRefusal(ctx, err)
	}
	return response, nil
}

func (s *Session) send(ctx context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	if s.requests++; s.requests > s.policy.Limits.Requests {
		return sdk.HTTPResponse{}, refuse(TooMany, "One call may make %d requests.", s.policy.Limits.Requests)
	}
	d, err := check(request)
	if err != nil {
		return sdk.HTTPResponse{}, err
	}
	if err := s.policy.Grants.allows(d.at, d.method); err != nil {
		return sdk.HTTPResponse{}, err
	}
	if d.showsSecret(s.policy.Vault) {
		return sdk.HTTPResponse{}, refuse(SecretInRequest, "The request shows a secret; name it as secret://<name>.")
	}
	for range s.policy.Limits.Redirects + 1 {
		response, err := s.trip(ctx, d)
		if err != nil {
			return sdk.HTTPResponse{}, err
		}
		if !redirects(response) {
			return s.read(response)
		}
		_ = response.Body.Close()
		if d, err = d.follow(response, s.policy.Grants, s.policy.Vault); err != nil {
			return sdk.HTTPResponse{}, err
		}
	}
	return sdk.HTTPResponse{}, refuse(RedirectRefused, "The answer redirects more than %d times.", s.policy.Limits.Redirects)
}

// trip makes one exchange of headers.
func (s *Session) trip(ctx context.Context, d draft) (*http.Response, error) {
	if err := s.charge(d.size()); err != nil {
		return nil, err
	}
	request, err := d.fill(ctx, s.policy.Vault)
	if err != nil {
		return nil, err
	}
	if s.pool == nil {
		s.pool = s.broker.connections(s.policy.Grants)
	}
	response, err := s.pool.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	size := 0
	for name, values := range response.Header {
		size += len(name) + len(strings.Join(values, ", "))
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		err = refuse(BadResponse, "The answer changes the protocol.")
	}
	if err = errors.Join(err, s.charge(int64(size))); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response, nil
}

// charge takes bytes off the call's budget.
func (s *Session) charge(bytes int64) error {
	if s.moved += bytes; s.moved > s.policy.Limits.Bytes {
		return refuse(TooLarge, "One call may move %d bytes.", s.policy.Limits.Bytes)
	}
	return nil
}

// read takes in a whole answer and looks for secrets before anybody else sees it.
func (s *Session) read(response *http.Response) (sdk.HTTPResponse, error) {
	defer response.Body.Close()
	if packed := response.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return sdk.HTTPResponse{}, refuse(BadResponse, "The answer is packed in a way that was not asked for.")
	}
	left := max(s.policy.Limits.Bytes-s.moved, 0)
	text, err := io.ReadAll(io.LimitReader(response.Body, left+1))
	if err == nil {
		err = s.charge(int64(len(text)))
	}
	if err != nil {
		return sdk.HTTPResponse{}, err
	}
	answer := sdk.HTTPResponse{Status: response.StatusCode, Header: map[string]string{}, Body: text}
	for name, values := range response.Header {
		value := strings.Join(values, ", ")
		answer.Header[strings.ToLower(name)] = value
		if s.policy.Vault.shows(name, value) {
			return sdk.HTTPResponse{}, refuse(SecretInResponse, "The answer shows a secret.")
		}
	}
	if s.policy.Vault.scanner.Finds(text) {
		return sdk.HTTPResponse{}, refuse(SecretInResponse, "The answer shows a secret.")
	}
	return answer, nil
}
