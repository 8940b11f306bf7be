package agenttools

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// secretBytes is how much chance is in a launch key, a session and a CSRF token.
const secretBytes = 32

// session is what one opening of the launch address gave to a browser.
type session struct {
	csrf string
	ends time.Time
}

// sessions holds the one session of an instance and the two keys that lead to it: the one that nobody has used yet, and
// the one that made the session, which only the holder of the session may use again.
type sessions struct {
	instance string // 32 hexadecimal digits; the first twelve name the cookie
	ttl      time.Duration
	clock    func() time.Time

	mu      sync.Mutex
	fresh   digest // of the launch key that works once
	used    digest // of the launch key that made the session
	token   digest // of the session's cookie
	current session
}

// digest is the SHA-256 of a secret. Two are compared in constant time, and the secret itself is not kept.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

func (d digest) of(secret string) bool {
	given := digestOf(secret)
	return secret != "" && subtle.ConstantTimeCompare(d[:], given[:]) == 1
}

func newSessions(ttl time.Duration, clock func() time.Time) *sessions {
	return &sessions{instance: strings.ReplaceAll(run.NewUUID(), "-", ""), ttl: ttl, clock: clock}
}

// launch makes the key that works once. One that was not used no longer works.
func (s *sessions) launch() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newKey()
}

func (s *sessions) newKey() string {
	key := newSecret()
	s.fresh = digestOf(key)
	return key
}

// open turns a launch key into a session and returns the cookie's value. The session before ends, its CSRF token too. A
// key that was not used before is replaced: next is then not empty.
func (s *sessions) open(key, cookie string) (token, next string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fresh.of(key):
		s.used = digestOf(key)
		next = s.newKey()
	case s.used.of(key) && s.holds(cookie):
	default:
		return "", "", false
	}
	token = newSecret()
	s.token = digestOf(token)
	s.current = session{csrf: newSecret(), ends: s.clock().Add(s.ttl)}
	return token, next, true
}

// find returns the session that a cookie is of. One that has ended is none.
func (s *sessions) find(cookie string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.holds(cookie) {
		return session{}, false
	}
	return s.current, true
}

func (s *sessions) holds(cookie string) bool {
	return s.token.of(cookie) && s.clock().Before(s.current.ends)
}

func (s *sessions) cookieName() string { return "labfy_session_" + s.instance[:12] }

// cookie is the Set-Cookie line, its attributes as the contract writes them.
func (s *sessions) cookie(token string) string {
	return fmt.Sprintf("%s=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%d",
		s.cookieName(), token, int(s.ttl.Seconds()))
}

// cookieOf returns the value of the cookie. Two of that name are none: nobody can say which of them is meant.
func (s *sessions) cookieOf(r *http.Request) string {
	cookies := r.CookiesNamed(s.cookieName())
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

func newSecret() string {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails: the program ends where there is no chance to be had
	return hex.EncodeToString(secret)
}
