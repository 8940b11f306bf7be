package host

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/wasm"
)

// Egress is the one way out of the service for plugins and MCP servers. Give the same one to a bridge and, in Options,
// to the server: only then does the bridge know the service's own listener.
type Egress struct{ broker *egress.Broker }

// NewEgress returns a way out that knows where the service will listen, as far as the configuration says it.
func NewEgress(cfg Config) *Egress {
	e := &Egress{egress.New(egress.Config{
		Timeout: cfg.Plugins.Egress.Timeout, HeaderBytes: cfg.Plugins.Egress.HeaderBytes,
	})}
	for _, addr := range cfg.listeners() {
		if address, err := net.ResolveTCPAddr("tcp", addr); err == nil {
			e.own(address)
		}
	}
	return e
}

// own closes the way to a listener of this service.
func (e *Egress) own(address net.Addr) {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return
	}
	own := tcp.AddrPort()
	if !own.Addr().IsValid() {
		own = netip.AddrPortFrom(netip.IPv6Unspecified(), own.Port())
	}
	e.broker.Own(own)
}

// MCP returns the way to one MCP server: to the origin of its url and nowhere else. Each call returns one with
// connections of its own.
func (e *Egress) MCP(server MCPServerConfig) (http.RoundTripper, error) {
	grants, err := egress.Endpoint(server.URL, server.Addresses)
	if err != nil {
		return nil, fmt.Errorf("mcp server %s: %w", server.Name, err)
	}
	var credentials []string
	for name, value := range server.Headers {
		if credential(name) {
			_, bare, _ := strings.Cut(value.Reveal(), " ") // of "Bearer …"
			credentials = append(credentials, value.Reveal(), bare)
		}
	}
	return e.broker.Transport(grants, credentials), nil
}

// Prometheus returns the way to the server of query_metrics: to the origin of its url and nowhere else, without
// redirects.
func (e *Egress) Prometheus(server PrometheusConfig) (http.RoundTripper, error) {
	grants, err := egress.Endpoint(server.URL, server.Addresses)
	if err != nil {
		return nil, fmt.Errorf("prometheus: %w", err)
	}
	return e.broker.Direct(grants), nil
}

// Provider returns the way to one provider of research: to the origin of its url and nowhere else, without redirects.
func (e *Egress) Provider(provider ProviderConfig) (*http.Client, error) {
	grants, err := egress.Endpoint(provider.URL, provider.Addresses)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", provider.ID, err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: e.broker.Direct(grants), CheckRedirect: stay}, nil
}

// credential reports whether a header holds one, by its name. Others may well come back in an answer.
func credential(header string) bool {
	header = strings.ToLower(header)
	for _, word := range []string{"authorization", "token", "secret", "password", "cookie", "key"} {
		if strings.Contains(header, word) {
			return true
		}
	}
	return false
}

// world is what plugins reach beyond their memory and files.
func (e *Egress) world(cfg Config, pairs wasm.Pairs) wasm.World {
	secrets := map[string]string{}
	for _, secret := range cfg.Plugins.Secrets {
		secrets[secret.Name] = secret.Value.Reveal()
	}
	return wasm.World{
		Egress: e.broker, Pairs: pairs, Secrets: secrets,
		Withheld: append(secretsOf(cfg), cfg.Auth.ServiceToken.Reveal()),
	}
}
