package agenttools

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Config is what the face is made of. Gateway, Research and Runtime are required.
type Config struct {
	Gateway  Gateway
	Research Research
	Runtime  Runtime

	Authority        string           // the only Host that is served; empty = what Open is told
	SessionTTL       time.Duration    // from the opening of a session to its end, used or not; 0 = 1 h
	MutationInterval time.Duration    // between two mutations; 0 = 30 ms
	MaxBody          int64            // bytes; 0 = 4096
	BodyTimeout      time.Duration    // from the head of a request to the end of its body; 0 = 30 s
	WriteTimeout     time.Duration    // for a client to take an answer, from when it is there; 0 = 30 s
	MaxRequests      int              // that change something at once, and as many that read; 0 = 64
	Announce         func(url string) // is told each launch address, which is a credential; nil = nobody is
	Mask             web.Mask
	Clock            func() time.Time // nil = time.Now
	Log              *slog.Logger     // nil = silent
}

func (c Config) withDefaults() Config {
	if c.SessionTTL == 0 {
		c.SessionTTL = time.Hour
	}
	if c.MutationInterval == 0 {
		c.MutationInterval = 30 * time.Millisecond
	}
	if c.MaxBody == 0 {
		c.MaxBody = 4096
	}
	if c.BodyTimeout == 0 {
		c.BodyTimeout = 30 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.MaxRequests == 0 {
		c.MaxRequests = 64
	}
	if c.Announce == nil {
		c.Announce = func(string) {}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Face is the protocol as a handler, with a server of its own. It may be used from many goroutines.
type Face struct {
	cfg      Config
	handler  http.Handler
	routes   []route
	meanings map[run.Code]meaning
	page     page
	sessions *sessions
	pace     pace

	readers, writers chan struct{} // hold a value for every request that is admitted

	authority atomic.Pointer[string] // nil before Open: nothing is served
	closing   atomic.Bool            // nothing new begins

	mu     sync.Mutex
	server *http.Server // that Serve runs
}

// New returns a face that refuses everything until it is opened.
func New(cfg Config) (*Face, error) {
	cfg = cfg.withDefaults()
	shown, err := newPage()
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	f := &Face{
		cfg: cfg, routes: allRoutes(), meanings: meanings(), page: shown,
		sessions: newSessions(cfg.SessionTTL, cfg.Clock),
		pace:     pace{interval: cfg.MutationInterval, clock: cfg.Clock},
		readers:  make(chan struct{}, cfg.MaxRequests), writers: make(chan struct{}, cfg.MaxRequests),
	}
	f.handler = web.Contained(cfg.Log, f.answer, func(w http.ResponseWriter, r *http.Request) {
		(&visit{Face: f, w: w, r: r}).refuse(refused(internalError))
	})
	return f, nil
}

// Open says at which address the face is reached, as host:port, and announces the first launch address. A configured
// authority is kept.
func (f *Face) Open(bound string) {
	authority := f.cfg.Authority
	if authority == "" {
		authority = asBrowsersSayIt(bound)
	}
	f.authority.Store(&authority)
	f.announce(f.sessions.launch())
}

func (f *Face) announce(key string) { f.cfg.Announce(f.origin() + "/?launch=" + key) }

// at returns the authority that is served; before Open there is none.
func (f *Face) at() string {
	if authority := f.authority.Load(); authority != nil {
		return *authority
	}
	return ""
}

func (f *Face) origin() string { return "http://" + f.at() }

// ServeHTTP answers one request.
func (f *Face) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.handler.ServeHTTP(w, r) }
