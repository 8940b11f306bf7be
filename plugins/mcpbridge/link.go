package mcpbridge

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// link keeps one client of a server connected: it dials when somebody needs it, notices when the session dies, and
// dials again, never more often than its backoff allows. The first attempt after a failure is free, so that a server
// that crashed once is back at once.
type link struct {
	dial        func(context.Context) (*session, error)
	ready       func(context.Context, *session) error // run on a new session, and again whenever its tools changed
	spawn       func(func(context.Context)) bool
	now         func() time.Time
	timeout     time.Duration // of one attempt
	first, most time.Duration // backoff
	heartbeat   time.Duration // how often a session is pinged; 0 = never
	silence     time.Duration // how long a ping or a reload may stay unanswered
	rest        time.Duration // between two reloads
	persistent  bool          // dial again without being asked
	stop        chan struct{} // closed to give the link up
	stopping    sync.Once

	mu       sync.Mutex
	session  *session
	started  time.Time // when session began
	attempt  *attempt  // in progress
	failures int       // in a row
	retryAt  time.Time
	lastErr  error
}

// attempt is one dial that several callers may wait for.
type attempt struct {
	done    chan struct{}
	session *session
	err     error
}

// steady is how long a session must live, or that it answered a call, for its end to count as a first failure.
const steady = 10 * time.Second

// acquire returns a live session, dialling if need be. It waits no longer than ctx allows; the dial goes on for others.
func (l *link) acquire(ctx context.Context) (*session, error) {
	current, a, err := l.begin()
	if current != nil || err != nil {
		return current, err
	}
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// begin returns the live session, or the attempt to wait for, or why neither is to be had now.
func (l *link) begin() (*session, *attempt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.stop:
		return nil, nil, errClosed
	default:
	}
	switch {
	case l.session != nil && l.session.alive():
		return l.session, nil, nil
	case l.attempt != nil:
		return nil, l.attempt, nil
	}
	l.bury()
	if l.now().Before(l.retryAt) {
		return nil, nil, fmt.Errorf("%w: %w", errWaiting, l.lastErr)
	}
	a := &attempt{done: make(chan struct{})}
	if !l.spawn(func(ctx context.Context) { l.tend(ctx, a) }) {
		return nil, nil, errClosed
	}
	l.attempt = a
	return nil, a, nil
}

// tend serves one attempt, the session that comes of it, and for a persistent link whatever comes after.
func (l *link) tend(ctx context.Context, a *attempt) {
	for a != nil {
		if s := l.connect(ctx, a); s != nil {
			l.watch(ctx, s)
			s.close()
			l.mu.Lock()
			if l.session == s {
				l.bury()
			}
			l.mu.Unlock()
		}
		a = l.again(ctx)
	}
}

func (l *link) connect(ctx context.Context, a *attempt) *session {
	ctx, cancel := context.WithTimeoutCause(ctx, l.timeout, errTimeout)
	defer cancel()
	s, err := l.dial(ctx)
	if err == nil {
		err = l.ready(ctx, s)
	}
	if err == nil {
		l.settle(a, s, nil)
		return s
	}
	if cause := context.Cause(ctx); cause != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	l.settle(a, nil, err)
	if s != nil {
		s.close()
	}
	return nil
}

func (l *link) settle(a *attempt, s *session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.session, a.err = s, err
	l.attempt, l.session, l.started, l.lastErr = nil, s, l.now(), err
	if err != nil {
		l.fell()
	}
	close(a.done)
}

// bury forgets a dead session. The caller holds the lock.
func (l *link) bury() {
	if l.session == nil {
		return
	}
	if l.session.served.Load() || l.now().Sub(l.started) >= steady {
		l.failures = 0
	}
	l.lastErr = l.session.wire.failure()
	l.session = nil
	l.fell()
}

// fell counts a failure and sets when the next attempt is due. The caller holds the lock.
func (l *link) fell() {
	l.failures++
	wait := time.Duration(0)
	if l.failures > 1 {
		wait = min(l.first<<min(l.failures-2, 20), l.most)
	}
	l.retryAt = l.now().Add(wait)
}

// watch returns when the session is dead or the link is given up. News of changed tools are followed at once the first
// time, and then once in a while, however many there are.
func (l *link) watch(ctx context.Context, s *session) {
	beat := make(<-chan time.Time)
	if l.heartbeat > 0 {
		ticker := time.NewTicker(l.heartbeat)
		defer ticker.Stop()
		beat = ticker.C
	}
	changed, rested := s.changed, make(<-chan time.Time)
	for {
		select {
		case <-s.wire.dead():
			return
		case <-l.stop:
			return
		case <-ctx.Done():
			return
		case <-changed:
			l.within(ctx, func(ctx context.Context) error { return l.ready(ctx, s) }, s)
			changed, rested = nil, time.After(l.rest)
		case <-rested:
			changed = s.changed
		case <-beat:
			l.within(ctx, s.ping, s)
		case <-s.doubted:
			l.within(ctx, s.ping, s)
		}
	}
}

// within runs a check on a session; a session that fails it without an answer is dead.
func (l *link) within(ctx context.Context, check func(context.Context) error, s *session) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.silence, errSilent)
	defer cancel()
	if err := check(ctx); err != nil && context.Cause(ctx) == errSilent {
		s.wire.fail(errSilent)
	}
}

// again waits until a persistent link may dial by itself, and returns the attempt. It returns nil when the link is
// not persistent, is given up, or somebody else was faster.
func (l *link) again(ctx context.Context) *attempt {
	if !l.persistent {
		return nil
	}
	l.mu.Lock()
	wait := time.NewTimer(l.retryAt.Sub(l.now()))
	l.mu.Unlock()
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-l.stop:
		return nil
	case <-wait.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempt != nil || l.session != nil || ctx.Err() != nil {
		return nil
	}
	l.attempt = &attempt{done: make(chan struct{})}
	return l.attempt
}

// close gives the link up. Its session ends soon after; the owner of spawn waits for it.
func (l *link) close() { l.stopping.Do(func() { close(l.stop) }) }

// state reports whether a session lives now, and the last failure.
func (l *link) state() (alive bool, lastErr error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		return false, l.lastErr
	}
	return l.session.alive(), l.session.wire.failure()
}
