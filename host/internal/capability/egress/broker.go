package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Config sets up a Broker. The zero value is usable.
type Config struct {
	Resolve     func(ctx context.Context, host string) ([]netip.Addr, error)         // nil: the machine's resolver
	Connect     func(ctx context.Context, network, address string) (net.Conn, error) // nil: a TCP connection
	Local       func() ([]netip.Addr, error)                                         // nil: the addresses of the machine's interfaces
	RootCAs     *x509.CertPool                                                       // nil: the machine's
	HeaderBytes int64                                                                // of one answer; 0: 64 KiB
	Timeout     time.Duration                                                        // of one request of a guest, redirects and answer included; 0: 30 s
}

// Broker makes requests. It may be used from many goroutines. Nothing is shared between two sessions or transports: no
// connection, no cookie, no address.
type Broker struct {
	config Config
	class  classifier
	own    *listeners
}

// New returns a broker that knows no listener yet.
func New(config Config) *Broker {
	if config.Resolve == nil {
		config.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if config.Connect == nil {
		config.Connect = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	if config.Local == nil {
		config.Local = machineAddresses
	}
	config.HeaderBytes = cmp.Or(config.HeaderBytes, 64<<10)
	config.Timeout = cmp.Or(config.Timeout, 30*time.Second)
	return &Broker{config: config, class: newClassifier(), own: &listeners{local: config.Local}}
}

// Own says that this service listens on an address. Nothing is sent there from now on, whoever was granted it.
func (b *Broker) Own(addresses ...netip.AddrPort) { b.own.add(addresses...) }

// connections returns a pool of connections that follows grants: HTTP/1.1 only, no proxy, every address checked.
func (b *Broker) connections(grants Grants) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return b.dial(ctx, grants, address)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: b.config.RootCAs},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: b.config.HeaderBytes,
		Protocols:              &protocols,
	}
}
