package loopback

import (
	"errors"
	"net/netip"
	"strings"
)

// ErrEndpoint reports that an address is not that of a model on this machine in its one canonical form.
var ErrEndpoint = errors.New(`want exactly http://127.0.0.1:<port> or http://[::1]:<port>`)

// Check returns ErrEndpoint for whatever is not the canonical form of a loopback address: http, a literal address, a
// port from 1 to 65535 without leading zeros, and no path. One slash may end it.
func Check(endpoint string) error {
	_, err := read(endpoint)
	return err
}

// read returns what to dial.
func read(endpoint string) (netip.AddrPort, error) {
	authority, is := strings.CutPrefix(strings.TrimSuffix(endpoint, "/"), "http://")
	address, err := netip.ParseAddrPort(authority)
	if !is || err != nil || address.Port() == 0 || address.String() != authority {
		return netip.AddrPort{}, ErrEndpoint
	}
	if host := address.Addr(); host != netip.AddrFrom4([4]byte{127, 0, 0, 1}) && host != netip.IPv6Loopback() {
		return netip.AddrPort{}, ErrEndpoint
	}
	return address, nil
}
