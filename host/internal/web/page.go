package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// PageConfig bounds logins of the page at /ui/. The zero value is five minutes for a code, twelve hours for a session,
// 16 codes that wait and 64 sessions.
type PageConfig struct {
	CodeTTL     time.Duration
	SessionTTL  time.Duration
	MaxCodes    int // unused ones; more are refused
	MaxSessions int // beyond it the one that ends first is ended
	Clock       func() time.Time
}

func (c PageConfig) withDefaults() PageConfig {
	if c.CodeTTL == 0 {
		c.CodeTTL = 5 * time.Minute
	}
	if c.SessionTTL == 0 {
		c.SessionTTL = 12 * time.Hour
	}
	if c.MaxCodes == 0 {
		c.MaxCodes = 16
	}
	if c.MaxSessions == 0 {
		c.MaxSessions = 64
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// pass is a code that waits to be used, or a session.
type pass struct {
	caller Caller // who the holder is
	origin string // of the page that logged in; empty for a code
	ends   time.Time
}

// key is the digest of a code or of a session's id: what is kept opens nothing, and comparing it tells nothing.
type key [sha256.Size]byte

func keyOf(secret string) key { return sha256.Sum256([]byte(secret)) }

func (k key) name() string { return "page " + hex.EncodeToString(k[:8]) }

// pages keeps the codes and sessions of the page in memory: a restart ends them all. It may be used from many
// goroutines.
type pages struct {
	cfg PageConfig

	mu       sync.Mutex
	codes    map[key]pass
	sessions map[key]pass
}

func newPages(cfg PageConfig) *pages {
	return &pages{cfg: cfg.withDefaults(), codes: map[key]pass{}, sessions: map[key]pass{}}
}

// code returns a new code for a caller. ok is false when too many wait already.
func (p *pages) code(caller Caller) (code string, ends time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(p.codes)
	if len(p.codes) >= p.cfg.MaxCodes {
		return "", time.Time{}, false
	}
	code, ends = rand.Text(), p.cfg.Clock().Add(p.cfg.CodeTTL)
	p.codes[keyOf(code)] = pass{caller: caller, ends: ends}
	return code, ends, true
}

// redeem turns a code into a session of a page, always a new one; the session that the browser had ends. ok is false
// for a code that was never made, is too old or was used.
func (p *pages) redeem(code, origin, before string) (id string, session pass, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(p.codes)
	waiting, ok := p.codes[keyOf(code)]
	if !ok {
		return "", pass{}, false
	}
	delete(p.codes, keyOf(code))
	delete(p.sessions, keyOf(before))
	p.makeRoom()
	id = rand.Text() + rand.Text()
	session = pass{waiting.caller, origin, p.cfg.Clock().Add(p.cfg.SessionTTL)}
	session.caller.Credential = keyOf(id).name()
	p.sessions[keyOf(id)] = session
	return id, session, true
}

// session returns the session with an id, while it lasts.
func (p *pages) session(id string) (pass, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	session, ok := p.sessions[keyOf(id)]
	return session, ok && p.cfg.Clock().Before(session.ends)
}

// end ends a session.
func (p *pages) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, keyOf(id))
}

// makeRoom ends the session that would end first, where there are as many as there may be.
func (p *pages) makeRoom() {
	p.forget(p.sessions)
	if len(p.sessions) < p.cfg.MaxSessions {
		return
	}
	var first key
	var ends time.Time
	for id, session := range p.sessions {
		if ends.IsZero() || session.ends.Before(ends) {
			first, ends = id, session.ends
		}
	}
	delete(p.sessions, first)
}

// forget drops what is over.
func (p *pages) forget(passes map[key]pass) {
	now := p.cfg.Clock()
	for id, one := range passes {
		if !now.Before(one.ends) {
			delete(passes, id)
		}
	}
}
