package web

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/gorilla/mux"
)

// AuthMode says how callers prove themselves.
type AuthMode string

// The modes of authentication. A configured service token is required in each of them.
const (
	AuthNone           AuthMode = "none"
	AuthServiceToken   AuthMode = "service_token"
	AuthTrustedHeaders AuthMode = "trusted_headers"
	AuthJWT            AuthMode = "jwt"
)

// Config is what the door is made of. The zero value admits local callers without a credential.
type Config struct {
	Authorities  []string       // values of Host that are served; none = the address that the connection came in on
	Auth         AuthMode       // empty = none
	ServiceToken string         // set: every route that is not public needs it, or a user's credential
	AdminToken   string         // opens the routes of administration; empty = nothing does
	Proxies      []netip.Prefix // peers whose identity headers are believed, for trusted_headers
	Tokens       TokenReader    // for jwt
	OperatorRole string         // role that makes a user an operator; empty = there are none
	Guests       Guests         // whom to serve
	MaxBody      int64          // bytes; 0 = 1 MiB
	WriteTimeout time.Duration  // of one write to a stream; 0 = 10 s
	BodyTimeout  time.Duration  // from the header to the end of the body; 0 = 30 s
	Secrets      []string       // values that never leave
	Limit        *Throttle      // by credential; nil = no rate limit
	UserLimit    *Throttle      // by user; nil = no rate limit
	Page         PageConfig     // bounds of logins of the page at /ui/
	Log          *slog.Logger   // nil = silent
}

// Face is one protocol behind the door.
type Face struct {
	Routes    []Route
	Translate func(error) *Refusal // the public side of an error that is no Refusal; nil = internal error
	Shape     func(*Refusal) any   // the body of a refusal on the face's paths, also where the door refuses; nil = the door's
}

// Route is one method on one path. Path is a mux template such as /v1/runs/{run_id}. A GET route answers HEAD too,
// unless it is a stream.
type Route struct {
	Method string
	Path   string
	Public bool // needs no credential
	Bare   bool // may be read without a credential where only users have one: mode jwt, no service token
	Admin  bool // needs the administration token, and nothing else opens it
	Stream bool // answers with a stream
	Page   bool // a session of the page at /ui/ opens it too
	Handle Handler
}

// Handler answers one exchange. An error it returns before it has answered is shown in the door's error shape.
type Handler func(x *Exchange) error

// Errors of a mode that lacks what it needs.
var (
	ErrNoToken   = errors.New("auth mode service_token needs a service token")
	ErrNoProxies = errors.New("auth mode trusted_headers needs trusted proxies")
	ErrNoReader  = errors.New("auth mode jwt needs a reader of tokens")
)

// Entrance is the handler of all faces together.
type Entrance struct {
	handler http.Handler
	routes  []Route
}

// ServeHTTP serves one request.
func (e *Entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// Routes lists what is served, each method on its own, without the handlers.
func (e *Entrance) Routes() []Route { return slices.Clone(e.routes) }

// New returns the handler of all faces together. Two routes for one method and path are an error.
func New(cfg Config, faces ...Face) (*Entrance, error) {
	d, err := newDoor(cfg)
	if err != nil {
		return nil, err
	}
	resources := map[string]resource{}
	for _, face := range faces {
		if err := d.add(resources, face); err != nil {
			return nil, err
		}
	}
	router := mux.NewRouter().SkipClean(true)
	entrance := &Entrance{handler: d.guard(router)}
	for _, path := range slices.Sorted(maps.Keys(resources)) {
		here := resources[path]
		router.Handle(path, here)
		entrance.routes = append(entrance.routes, here.routes()...)
	}
	router.NotFoundHandler = http.HandlerFunc(d.nowhere)
	return entrance, nil
}

type door struct {
	cfg    Config
	shapes map[string]func(*Refusal) any // by path
	mask   Mask
	auth   authenticator

	pages *pages
}

func newDoor(cfg Config) (*door, error) {
	switch cfg.Auth {
	case "", AuthNone:
	case AuthServiceToken:
		if cfg.ServiceToken == "" {
			return nil, ErrNoToken
		}
	case AuthTrustedHeaders:
		if len(cfg.Proxies) == 0 {
			return nil, ErrNoProxies
		}
	case AuthJWT:
		if cfg.Tokens == nil {
			return nil, ErrNoReader
		}
	default:
		return nil, fmt.Errorf("auth mode %q is unknown", cfg.Auth)
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = 1 << 20
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = 10 * time.Second
	}
	if cfg.BodyTimeout == 0 {
		cfg.BodyTimeout = 30 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &door{
		cfg: cfg, shapes: map[string]func(*Refusal) any{}, pages: newPages(cfg.Page),
		mask: NewMask(append(slices.Clone(cfg.Secrets), cfg.ServiceToken, cfg.AdminToken)),
		auth: authenticator{
			mode: cfg.Auth, service: newSecret(cfg.ServiceToken), admin: newSecret(cfg.AdminToken), proxies: cfg.Proxies,
			read: cfg.Tokens, operator: cfg.OperatorRole, guests: cfg.Guests, log: cfg.Log,
		},
	}, nil
}
