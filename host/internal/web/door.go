package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/mux"
)

// AuthMode says how callers prove themselves.
type AuthMode string

// The modes of authentication. A configured service token is required in each of them.
const (
	AuthNone         AuthMode = "none"
	AuthServiceToken AuthMode = "service_token"
)

// Config is what the door is made of. The zero value admits local callers without a credential.
type Config struct {
	Authorities  []string      // values of Host that are served; none = the address that the connection came in on
	Auth         AuthMode      // empty = none
	ServiceToken string        // set: every route that is not public needs it
	MaxBody      int64         // bytes; 0 = 1 MiB
	WriteTimeout time.Duration // of one write to a stream; 0 = 10 s
	BodyTimeout  time.Duration // from the header to the end of the body; 0 = 30 s
	Secrets      []string      // values that never leave
	Limit        Limiter       // nil = no rate limit
	Log          *slog.Logger  // nil = silent
}

// Limiter says whether one more request under a credential may pass, and otherwise how long to wait. The credential
// is a digest, never the secret itself. It may be called from many goroutines.
type Limiter func(credential string) (wait time.Duration, ok bool)

// Face is one protocol behind the door.
type Face struct {
	Routes    []Route
	Translate func(error) *Refusal // the public side of an error that is no Refusal; nil = internal error
}

// Route is one method on one path. Path is a mux template such as /v1/runs/{run_id}. A GET route answers HEAD too,
// unless it is a stream.
type Route struct {
	Method string
	Path   string
	Public bool // needs no credential
	Stream bool // answers with a stream
	Handle Handler
}

// Handler answers one exchange. An error it returns before it has answered is shown in the door's error shape.
type Handler func(x *Exchange) error

// ErrNoToken reports that the mode needs a service token and none is configured.
var ErrNoToken = errors.New("auth mode service_token needs a service token")

// New returns the handler of all faces together. Two routes for one method and path are an error.
func New(cfg Config, faces ...Face) (http.Handler, error) {
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
	for path, here := range resources {
		router.Handle(path, here)
	}
	router.NotFoundHandler = http.HandlerFunc(d.nowhere)
	return d.guard(router), nil
}

type door struct {
	cfg  Config
	mask Mask
	auth authenticator
}

func newDoor(cfg Config) (*door, error) {
	switch cfg.Auth {
	case "", AuthNone:
	case AuthServiceToken:
		if cfg.ServiceToken == "" {
			return nil, ErrNoToken
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
		cfg:  cfg,
		mask: NewMask(append(slices.Clone(cfg.Secrets), cfg.ServiceToken)),
		auth: newAuthenticator(cfg.ServiceToken),
	}, nil
}
