package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Grants is what one plugin or one bridge may reach. The zero value reaches nothing. It never changes.
type Grants struct{ list []grant }

type grant struct {
	target
	methods   []string
	addresses []netip.Prefix // not public, and named
}

// everyMethod stands for all methods, in grants that this program makes itself.
const everyMethod = "*"

// NewGrants reads grants. The operator names what is not public: a host that is an address names itself, localhost
// names the loopback, any other host is named with its addresses.
func NewGrants(accesses []sdk.HTTPAccess) (Grants, error) {
	var all Grants
	for i, access := range accesses {
		if err := access.Validate(); err != nil {
			return Grants{}, fmt.Errorf("http[%d].%w", i, err)
		}
		if err := checkHost(access.Host); err != nil {
			return Grants{}, fmt.Errorf("http[%d].host: %w", i, err)
		}
		access = access.WithDefaults()
		g := grant{target: target{access.Scheme, access.Host, access.Port}, methods: access.Methods}
		g.addresses = append(g.addresses, namedBy(access.Host)...)
		for n, text := range access.Addresses {
			prefix, err := netip.ParsePrefix(text)
			if err != nil {
				return Grants{}, fmt.Errorf("http[%d].addresses[%d]: %q is no range such as 10.1.2.0/24", i, n, text)
			}
			g.addresses = append(g.addresses, prefix.Masked())
		}
		all.list = append(all.list, g)
	}
	return all, nil
}

// Endpoint grants every method at the origin of one URL, and the ranges that its host may have though not public.
func Endpoint(address string, ranges []string) (Grants, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return Grants{}, fmt.Errorf("the URL cannot be read: %w", err)
	}
	parsed.User = nil // it is the bridge's own, and is sent as a header
	at, _, err := readURL(parsed)
	if err != nil {
		return Grants{}, err
	}
	all, err := NewGrants([]sdk.HTTPAccess{{Scheme: at.scheme, Host: at.host, Port: at.port, Addresses: ranges}})
	for i := range all.list {
		all.list[i].methods = []string{everyMethod}
	}
	return all, err
}

// checkHost reports a host that is not written as hosts are compared.
func checkHost(host string) error {
	if err := sdk.CheckHost(host); err != nil {
		return err
	}
	address, err := netip.ParseAddr(host)
	if err == nil && (address.Zone() != "" || address.Is4In6() || address.String() != host) || err != nil && strings.Contains(host, ":") {
		return fmt.Errorf("%q is no address in its shortest form, without a zone and not mapped", host)
	}
	return nil
}

// namedBy returns the addresses that a host's name says itself.
func namedBy(host string) []netip.Prefix {
	if host == "localhost" {
		return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Prefix{netip.PrefixFrom(address, address.BitLen())}
	}
	return nil
}

// Empty reports whether nothing is granted.
func (g Grants) Empty() bool { return len(g.list) == 0 }

// allows refuses a request that no grant names.
func (g Grants) allows(at target, method string) error {
	reachable := false
	for _, one := range g.list {
		if one.target != at {
			continue
		}
		reachable = true
		if slices.Contains(one.methods, method) || slices.Contains(one.methods, everyMethod) {
			return nil
		}
	}
	if reachable {
		return refuse(NotGranted, "The method %s is not granted at %s.", method, at)
	}
	return refuse(NotGranted, "%s is not granted.", at)
}

// named reports whether a grant for this host and port names an address that is not public.
func (g Grants) named(host string, port int, address netip.Addr) bool {
	for _, one := range g.list {
		if one.host == host && one.port == port &&
			slices.ContainsFunc(one.addresses, func(p netip.Prefix) bool { return p.Contains(address) }) {
			return true
		}
	}
	return false
}
