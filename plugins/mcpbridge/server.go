package mcpbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// server is one configured MCP server: its catalog and its clients.
type server struct {
	spec     Server
	config   Config
	names    aliases
	endpoint string
	dial     func(context.Context) (*session, error)
	spawn    func(func(context.Context)) bool

	mu      sync.Mutex
	clients map[owner]*user
	catalog catalog
	loaded  bool
}

// owner says whose client it is. The zero owner's client lists tools, and for a shared server serves everybody.
type owner struct{ tenant, user string }

// user is a link with its use counted, so that nobody's is closed under a call.
type user struct {
	*link
	inFlight int
	usedAt   time.Time
}

func newServer(spec Server, config Config, names aliases, dial func(context.Context) (*session, error), spawn func(func(context.Context)) bool) *server {
	return &server{
		spec: spec, config: config, names: names, endpoint: spec.endpoint(), dial: dial, spawn: spawn,
		clients: map[owner]*user{},
	}
}

// tools returns what the server offers if it works now or can be made to, within ctx and the timeout of one attempt.
func (s *server) tools(ctx context.Context) []sdk.NativeTool {
	lister, release, err := s.borrow(owner{})
	if err != nil {
		return nil
	}
	defer release()
	if _, err := lister.acquire(ctx); err != nil {
		return nil // status says why
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.catalog.tools)
}

// rawName finds the server's own name of a registered tool.
func (s *server) rawName(registered string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tool := range s.catalog.tools {
		if tool.Name == registered {
			return tool.RawName, true
		}
	}
	return "", false
}

// invoke sends one call on behalf of its identity. It sends again only when the first try certainly did not arrive.
func (s *server) invoke(caller context.Context, raw string, call sdk.Call) (sdk.Result, error) {
	ctx, cancel := context.WithTimeoutCause(caller, s.spec.Timeout, errTimeout)
	defer cancel()
	params := newCallParams(raw, call, s.spec.ForwardIdentity)
	c, release, err := s.borrow(s.ownerOf(call.Identity))
	if err != nil {
		return sdk.Result{}, s.spec.failure(err, false)
	}
	defer release()
	var result sdk.Result
	for range 2 {
		var live *session
		if live, err = c.acquire(ctx); err != nil {
			return sdk.Result{}, s.fail(caller, err, false)
		}
		if result, err = live.call(ctx, params); !wasNotSent(err) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return sdk.Result{}, s.fail(caller, err, mayHaveRun(err))
	}
	return result, nil
}

// mayHaveRun reports whether a call that failed like this may have had its effect.
func mayHaveRun(err error) bool {
	var refused *rpcError
	return !wasNotSent(err) && !errors.As(err, &refused) && !errors.Is(err, errNeedsInput)
}

func (s *server) fail(caller context.Context, err error, mayHaveRun bool) *Failure {
	if caller.Err() != nil {
		err = fmt.Errorf("%w: %w", caller.Err(), err)
	}
	failure := s.spec.failure(err, mayHaveRun)
	s.config.Log.Warn("mcp call failed", slog.String("server", s.spec.Name), slog.String("sentence", failure.Sentence),
		slog.Bool("may_have_run", mayHaveRun))
	return failure
}

func (s *server) ownerOf(identity sdk.Identity) owner {
	if s.spec.Isolation == isolationPerUser {
		return owner{tenant: identity.TenantKey, user: identity.UserKey}
	}
	return owner{}
}

// borrow returns the owner's client, making room for it if need be, and the function that gives it back.
func (s *server) borrow(who owner) (*user, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[who]
	if c == nil {
		if who != (owner{}) && !s.makeRoom() {
			return nil, nil, errTooMany
		}
		c = s.newClient(who)
		s.clients[who] = c
	}
	c.inFlight++
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.inFlight--
		c.usedAt = s.config.Clock()
	}, nil
}

func (s *server) newClient(who owner) *user {
	l := &link{
		dial: s.connect, ready: func(context.Context, *session) error { return nil }, spawn: s.spawn, now: s.config.Clock,
		timeout: s.spec.Timeout, first: s.config.RetryFirst, most: s.config.RetryMax, stop: make(chan struct{}),
		silence: min(s.spec.Timeout, maxSilence), rest: reloadRest,
	}
	if who == (owner{}) {
		l.ready, l.persistent = s.load, true
	}
	if s.spec.Transport == transportHTTP {
		l.heartbeat = s.config.Heartbeat
	}
	return &user{link: l}
}

// connect dials, and logs why when that fails.
func (s *server) connect(ctx context.Context) (*session, error) {
	live, err := s.dial(ctx)
	if err != nil && ctx.Err() != context.Canceled {
		s.config.Log.Warn("mcp server cannot be used", slog.String("server", s.spec.Name),
			slog.String("cause", clip(printable(s.spec.masker()(err.Error())), maxLoggedCause)))
	}
	return live, err
}

const maxLoggedCause = 300

// maxSilence is how long a server may leave a ping or a reload unanswered before it counts as dead.
const maxSilence = 5 * time.Second

// reloadRest is the least time between two readings of a tool list that keeps changing.
const reloadRest = time.Second

// makeRoom closes the user's client that was unused for longest when there are too many. It reports whether there is
// room now. The caller holds the lock.
func (s *server) makeRoom() bool {
	var oldest owner
	users := 0
	for who, c := range s.clients {
		if who == (owner{}) {
			continue
		}
		users++
		if c.inFlight == 0 && (oldest == (owner{}) || c.usedAt.Before(s.clients[oldest].usedAt)) {
			oldest = who
		}
	}
	if users < s.config.MaxClients {
		return true
	}
	if oldest == (owner{}) {
		return false
	}
	s.drop(oldest)
	return true
}

// closeIdle closes the clients of users who have not called for a while.
func (s *server) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for who, c := range s.clients {
		if who != (owner{}) && c.inFlight == 0 && s.config.Clock().Sub(c.usedAt) >= s.config.IdleTimeout {
			s.drop(who)
		}
	}
}

func (s *server) drop(who owner) {
	s.clients[who].close()
	delete(s.clients, who)
}

// load reads the server's tools from a session into the catalog.
func (s *server) load(ctx context.Context, from *session) error {
	entries, err := from.list(ctx)
	if err != nil && !offersNoTools(err) {
		return err
	}
	next := newCatalog(entries, s.spec, s.endpoint, s.names)
	for name, reason := range next.reasons {
		s.config.Log.Warn("mcp tool quarantined", slog.String("server", s.spec.Name), slog.String("tool", name), slog.String("reason", reason))
	}
	s.mu.Lock()
	s.catalog, s.loaded = next, true
	s.mu.Unlock()
	s.config.Log.Info("mcp server loaded", slog.String("server", s.spec.Name), slog.Int("tools", len(next.tools)), slog.Int("quarantined", len(next.quarantined)))
	return nil
}

// status reports the server without waiting for it.
func (s *server) status() sdk.SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := sdk.SourceStatus{
		Name: s.spec.Name, Transport: s.spec.Transport, Isolation: s.spec.Isolation,
		Loaded: s.loaded, ToolCount: len(s.catalog.tools), Quarantined: append([]string{}, s.catalog.quarantined...),
	}
	if lister := s.clients[owner{}]; lister != nil {
		var err error
		if status.Alive, err = lister.state(); err != nil && !status.Alive {
			status.LastError = s.spec.failure(err, false).Sentence
		}
	}
	return status
}

// endpoint digests where the server lives: program and arguments, or address; names of variables and headers, but
// none of their values.
func (s Server) endpoint() string {
	address := s.URL
	if parsed, err := url.Parse(s.URL); err == nil {
		address = fmt.Sprintf("%s://%s%s", parsed.Scheme, parsed.Host, parsed.Path)
	}
	place, err := json.Marshal([]any{s.Transport, s.Command, s.Args, address, s.Env.names(), s.Headers.names()})
	if err != nil {
		panic(fmt.Sprintf("mcpbridge: encode endpoint: %v", err)) // strings always encode
	}
	sum := sha256.Sum256(place)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func offersNoTools(err error) bool {
	var rpc *rpcError
	return errors.As(err, &rpc) && rpc.code == -32601
}
