package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

const canary = "canary-secret-value/4711"

// world is a network of one server, whatever address is dialled, and a resolver that the test scripts.
type world struct {
	*testing.T
	server  *httptest.Server
	hits    atomic.Int32
	dialled chan string
	names   map[string][]string // addresses of a name: each resolution takes the first and keeps the last
	broker  *Broker
}

func newWorld(t *testing.T, handler http.HandlerFunc) *world {
	w := &world{T: t, dialled: make(chan string, 64), names: map[string][]string{"api.example": {"93.184.215.14"}}}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		w.hits.Add(1)
		handler(out, request)
	}))
	t.Cleanup(w.server.Close)
	w.broker = New(Config{
		Resolve: w.resolve,
		Local:   func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("198.51.100.7")}, nil },
		Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
			w.dialled <- address
			return (&net.Dialer{}).DialContext(ctx, network, w.server.Listener.Addr().String())
		},
	})
	return w
}

func (w *world) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	answers := w.names[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	var all []netip.Addr
	for text := range strings.SplitSeq(answers[0], ",") {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, nil
}

func (w *world) grants(accesses ...sdk.HTTPAccess) Grants {
	w.Helper()
	grants, err := NewGrants(accesses)
	if err != nil {
		w.Fatal(err)
	}
	return grants
}

func plain(host string) sdk.HTTPAccess {
	return sdk.HTTPAccess{Scheme: "http", Host: host, Methods: []string{"GET", "POST"}}
}

func limits() Limits { return Limits{Requests: 10, Bytes: 1 << 20, Redirects: 3} }

// way is one of the two ways out.
type way struct {
	name string
	get  func(w *world, grants Grants, address string) (string, error)
}

// ways are tried with the same attacks.
func ways() []way {
	return []way{
		{"guest", func(w *world, grants Grants, address string) (string, error) {
			vault := NewVault([]Secret{{Name: "token", Value: canary, Hosts: []string{"api.example"}}}, nil)
			session := w.broker.Session(Policy{Grants: grants, Vault: vault, Limits: limits()})
			defer session.Close()
			request := sdk.HTTPRequest{URL: address}
			if strings.HasPrefix(address, "http://api.example/") {
				request.Header = map[string]string{"X-Key": "secret://token"}
			}
			answer, err := session.Send(w.Context(), request)
			return string(answer.Body), err
		}},
		{"bridge", func(w *world, grants Grants, address string) (string, error) {
			out := w.broker.Transport(grants, []string{canary})
			defer out.CloseIdleConnections()
			request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, address, nil)
			if err != nil {
				return "", refuse(BadURL, "net/http refuses it: %v", err)
			}
			request.Header.Set("X-Key", canary)
			response, err := out.RoundTrip(request)
			if err != nil {
				return "", err
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			return string(text), err
		}},
	}
}

func codeOf(err error) Code {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

// everyWay runs a test with each way out.
func everyWay(t *testing.T, test func(t *testing.T, out way)) {
	for _, out := range ways() {
		t.Run(out.name, func(t *testing.T) { test(t, out) })
	}
}
