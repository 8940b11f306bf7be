package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

const (
	dialTimeout = 10 * time.Second // for each address
	maxTries    = 4                // addresses of one name that are tried
)

// dial connects to a host that was granted. The very address that was checked is dialled, so that a name server which
// changes its mind changes nothing.
func (b *Broker) dial(ctx context.Context, grants Grants, address string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	found, err := b.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		if err := b.admit(grants, host, port, one); err != nil {
			return nil, err
		}
	}
	var problems []error
	for _, one := range found[:min(len(found), maxTries)] {
		conn, err := b.connect(ctx, netip.AddrPortFrom(one, uint16(port)))
		if err == nil {
			return conn, nil
		}
		problems = append(problems, err)
	}
	return nil, errors.Join(problems...)
}

// resolve returns the addresses of a host, those of IPv4 in their own form.
func (b *Broker) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{literal.Unmap()}, nil
	}
	found, err := b.config.Resolve(ctx, host)
	if err == nil && len(found) == 0 {
		err = errors.New("the name has no address")
	}
	if err != nil {
		return nil, &Refusal{Unreachable, "The host's name could not be resolved.", err}
	}
	plain := make([]netip.Addr, 0, len(found))
	for _, one := range found {
		plain = append(plain, one.Unmap())
	}
	return plain, nil
}

// admit refuses an address that leads back here, or that is not public and was not named. One such address among many
// is enough: a name that mixes them is a trap.
func (b *Broker) admit(grants Grants, host string, port int, address netip.Addr) error {
	switch {
	case b.own.owns(address, port):
		return refuse(OwnListener, "The request would come back to this service.")
	case address.Zone() == "" && (b.class.public(address) || grants.named(host, port, address)):
		return nil
	}
	return refuse(PrivateAddress, "The host has an address that is not public and was not named in the grant.")
}

func (b *Broker) connect(ctx context.Context, address netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return b.config.Connect(ctx, "tcp", address.String())
}

// headerTooLong recognises the standard library's error, which has no type.
func headerTooLong(err error) bool {
	return strings.Contains(err.Error(), "server response headers exceeded")
}
