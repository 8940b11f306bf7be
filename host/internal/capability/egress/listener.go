package egress

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// listeners are the addresses that this service listens on. They may be added to while requests are made.
type listeners struct {
	local func() ([]netip.Addr, error) // the machine's own addresses

	mu  sync.Mutex
	all []netip.AddrPort
}

// add remembers an address of "tcp" form: host:port, where the host may be empty or a name.
func (l *listeners) add(addresses ...netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, address := range addresses {
		if address.Port() != 0 && !slices.Contains(l.all, address) {
			l.all = append(l.all, address)
		}
	}
}

// owns reports whether a connection to an address would end at a listener of this service. In doubt it does.
func (l *listeners) owns(address netip.Addr, port int) bool {
	l.mu.Lock()
	all := slices.Clone(l.all)
	l.mu.Unlock()
	for _, candidate := range append(carried(address), address) {
		for _, own := range all {
			if int(own.Port()) == port && l.meets(own.Addr().Unmap(), candidate.Unmap()) {
				return true
			}
		}
	}
	return false
}

// meets reports whether dialling an address reaches a listener at another: the same one, or any of this machine where
// one of both stands for all of them.
func (l *listeners) meets(own, dialled netip.Addr) bool {
	if own == dialled {
		return true
	}
	if dialled.IsUnspecified() {
		return own.IsUnspecified() || own.IsLoopback()
	}
	return own.IsUnspecified() && l.isLocal(dialled)
}

func (l *listeners) isLocal(address netip.Addr) bool {
	if address.IsLoopback() {
		return true
	}
	local, err := l.local()
	return err != nil || slices.Contains(local, address)
}

// machineAddresses returns the addresses of this machine's interfaces.
func machineAddresses() ([]netip.Addr, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var all []netip.Addr
	for _, one := range found {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			all = append(all, prefix.Addr().Unmap().WithZone(""))
		}
	}
	return all, nil
}
