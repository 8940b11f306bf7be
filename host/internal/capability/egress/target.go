package egress

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

const maxURL = 8 << 10 // bytes

// target is where a request goes, in the words in which it is compared.
type target struct {
	scheme, host string
	port         int
}

// String writes the origin of a target.
func (t target) String() string {
	return t.scheme + "://" + net.JoinHostPort(t.host, strconv.Itoa(t.port))
}

// parseURL reads a URL into the parts that are compared and the URL that is sent, which is made of them. Whatever two
// readers could understand differently is refused: user names, odd spellings of addresses, names that are not ASCII.
func parseURL(text string) (target, *url.URL, error) {
	if len(text) > maxURL {
		return target{}, nil, refuse(BadURL, "The URL has more than %d bytes.", maxURL)
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return target{}, nil, refuse(BadURL, "The URL cannot be read.")
	}
	return readURL(parsed)
}

func readURL(parsed *url.URL) (target, *url.URL, error) {
	switch {
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return target{}, nil, refuse(BadURL, "The URL is neither an http nor an https one.")
	case parsed.User != nil:
		return target{}, nil, refuse(BadURL, "The URL holds a user name or a password.")
	case parsed.Opaque != "" || parsed.Host == "":
		return target{}, nil, refuse(BadURL, "The URL names no host.")
	case strings.ContainsAny(parsed.Path, "\\\r\n\x00"):
		return target{}, nil, refuse(BadURL, "The URL holds a character that readers understand differently.")
	}
	host := strings.TrimSuffix(strings.ToLower(parsed.Hostname()), ".")
	literal, err := netip.ParseAddr(host)
	bracketed := strings.HasPrefix(parsed.Host, "[")
	if bracketed != (err == nil && literal.Is6()) || checkHost(host) != nil {
		return target{}, nil, refuse(BadURL, "The URL's host is no name in ASCII and no address in its shortest form.")
	}
	port, err := portOf(parsed)
	if err != nil {
		return target{}, nil, err
	}
	at := target{parsed.Scheme, host, port}
	return at, sent(parsed, at), nil
}

func portOf(parsed *url.URL) (int, error) {
	text := parsed.Port()
	if text == "" {
		if strings.HasSuffix(parsed.Host, ":") {
			return 0, refuse(BadURL, "The URL has a colon and no port.")
		}
		return sdk.HTTPAccess{Scheme: parsed.Scheme}.WithDefaults().Port, nil
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 || strconv.Itoa(port) != text {
		return 0, refuse(BadURL, "The URL's port is no number between 1 and 65535.")
	}
	return port, nil
}

// sent returns the URL that goes out: the compared host and port, the path and query as they were written, but for
// what may not stand there.
func sent(parsed *url.URL, at target) *url.URL {
	out := &url.URL{
		Scheme: at.scheme, Host: at.host, Path: parsed.Path, RawPath: parsed.RawPath,
		RawQuery: visible(parsed.RawQuery), ForceQuery: parsed.ForceQuery,
	}
	if strings.Contains(at.host, ":") {
		out.Host = "[" + at.host + "]"
	}
	if at.port != (sdk.HTTPAccess{Scheme: at.scheme}).WithDefaults().Port {
		out.Host += ":" + strconv.Itoa(at.port)
	}
	return out
}

// visible escapes what may not stand in the first line of a request: a space would end the URL there.
func visible(query string) string {
	var out strings.Builder
	for i := range len(query) {
		if c := query[i]; c > ' ' && c < 0x7f {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
