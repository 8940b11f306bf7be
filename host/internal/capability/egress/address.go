package egress

import (
	"net/netip"
	"slices"
)

// special lists what is not the public internet, as IANA's registries of special-purpose addresses have it.
func special() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// classifier knows which addresses are public.
type classifier struct {
	special []netip.Prefix
	global  netip.Prefix // the only part of IPv6 that is routed on the internet
}

func newClassifier() classifier {
	return classifier{special(), netip.MustParsePrefix("2000::/3")}
}

// public reports whether an address belongs to the internet. The forms of IPv6 that carry an IPv4 address (mapped,
// compatible, NAT64, 6to4, Teredo, ISATAP) are never public here: they lead where the address in them does.
func (c classifier) public(address netip.Addr) bool {
	switch {
	case !address.IsValid() || address.Zone() != "":
		return false
	case address.Is6() && (!c.global.Contains(address) || isatap(address)):
		return false
	}
	return !slices.ContainsFunc(c.special, func(p netip.Prefix) bool { return p.Contains(address) })
}

func isatap(address netip.Addr) bool {
	b := address.As16()
	return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// carried returns the IPv4 addresses that an IPv6 address may carry, so that a way back to this service is seen
// through them.
func carried(address netip.Addr) []netip.Addr {
	if !address.Is6() {
		return nil
	}
	b := address.As16()
	last := netip.AddrFrom4([4]byte(b[12:16]))
	switch {
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0: // Teredo: the client's address is inverted
		return []netip.Addr{netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), netip.AddrFrom4([4]byte(b[4:8]))}
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b, isatap(address): // NAT64
		return []netip.Addr{last}
	case [12]byte(b[:12]) == [12]byte{} && last.As4() != [4]byte{0, 0, 0, 1} && last.As4() != [4]byte{}:
		return []netip.Addr{last} // compatible
	}
	return nil
}
