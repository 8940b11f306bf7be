package agenttools

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// csrfHeader holds the token that only a page of this origin can have read.
const csrfHeader = "X-Labfy-CSRF"

// reads reports whether a request asks for something and changes nothing.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// checkHost refuses what was sent to another name: a page that rebinds its own name to this machine says that name.
func (f *Face) checkHost(r *http.Request) error {
	authority := f.at()
	if authority == "" || r.Host != authority || r.URL.Host != "" {
		return refused(hostRejected)
	}
	return nil
}

// checkReader wants the session.
func (f *Face) checkReader(r *http.Request) (session, error) {
	found, ok := f.sessions.find(f.sessions.cookieOf(r))
	if !ok {
		return session{}, refused(sessionRequired)
	}
	return found, nil
}

// checkMutation wants the session, and proof that a page of this origin sent the request. It does not say what of that
// was missing.
func (f *Face) checkMutation(r *http.Request) (session, error) {
	found, ok := f.sessions.find(f.sessions.cookieOf(r))
	origins, tokens := r.Header.Values("Origin"), r.Header.Values(csrfHeader)
	switch {
	case !ok, len(origins) != 1, len(tokens) != 1:
	case origins[0] != f.origin():
	case subtle.ConstantTimeCompare([]byte(tokens[0]), []byte(found.csrf)) != 1:
	default:
		return found, nil
	}
	return session{}, refused(mutationRejected)
}

// enter takes a place in a room, or refuses. Whoever got one calls leave.
func (f *Face) enter(room chan struct{}) (leave func(), err error) {
	if f.closing.Load() {
		return nil, refused(closing)
	}
	select {
	case room <- struct{}{}:
		return func() { <-room }, nil
	default:
		return nil, refused(busy)
	}
}

// asBrowsersSayIt leaves out the port that no browser sends.
func asBrowsersSayIt(bound string) string {
	if _, port, err := net.SplitHostPort(bound); err == nil && port == "80" {
		return strings.TrimSuffix(bound, ":80")
	}
	return bound
}
