package web

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// checkSource refuses requests for another host and requests of foreign pages, whatever their method: a page that
// rebinds its name to this machine sends its own Host, a drive-by page its own Origin.
func (d *door) checkSource(r *http.Request) *Refusal {
	allowed := d.authorities(r)
	host := strings.ToLower(r.Host)
	if !slices.Contains(allowed, host) && !slices.Contains(allowed, withoutPort(host)) {
		return &Refusal{
			Status: http.StatusForbidden, Code: "host_not_allowed",
			Sentence: "This host is not served here.",
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		from := originAuthority(origin)
		if from != host && !slices.Contains(allowed, from) {
			return &Refusal{
				Status: http.StatusForbidden, Code: "origin_not_allowed",
				Sentence: "Requests from this origin are not allowed.",
			}
		}
	}
	return nil
}

// withoutPort returns the host of host:port: an authority that is configured without a port stands for all ports.
// An origin gets no such leave, since another port is another page.
func withoutPort(authority string) string {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		return authority
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// authorities returns the values of Host that are served, in lower case.
func (d *door) authorities(r *http.Request) []string {
	if len(d.cfg.Authorities) == 0 {
		return boundAuthorities(r)
	}
	allowed := make([]string, len(d.cfg.Authorities))
	for i, authority := range d.cfg.Authorities {
		allowed[i] = strings.ToLower(authority)
	}
	return allowed
}

// boundAuthorities returns the address that the connection came in on, and the names of this machine with its port.
func boundAuthorities(r *http.Request) []string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return nil
	}
	host, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return nil
	}
	var allowed []string
	for _, name := range []string{host, "127.0.0.1", "localhost", "::1"} {
		allowed = append(allowed, net.JoinHostPort(name, port))
		if port == "80" {
			allowed = append(allowed, strings.TrimSuffix(net.JoinHostPort(name, port), ":80"))
		}
	}
	return allowed
}

// originAuthority returns host and port of an origin in lower case; a foreign form such as "null" has none.
func originAuthority(origin string) string {
	parsed, err := url.Parse(origin)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return ""
	}
	return strings.ToLower(parsed.Host)
}
