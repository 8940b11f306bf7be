package mcpbridge

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config is what New needs. Zero values stand for the defaults named at each field.
type Config struct {
	Servers []Server
	Log     *slog.Logger // default: discard

	// MaxResultBytes is the largest single message a server may send, 32 MiB by default. It protects memory only:
	// how much of a result a model sees is the host's decision.
	MaxResultBytes int
	// MaxClients is how many users of one per_user server may have a client at a time, 32 by default.
	MaxClients int
	// IdleTimeout is how long a user's client lives without a call, 10 minutes by default.
	IdleTimeout time.Duration
	// RetryFirst and RetryMax bound the wait between attempts to reach a server, 250 ms and 30 s by default.
	RetryFirst, RetryMax time.Duration
	// Heartbeat is how often an HTTP server is asked whether it lives, 15 s by default.
	Heartbeat time.Duration
	// Reserved are registered names that belong to other tools; no MCP tool is given one of them.
	Reserved []string
	// Withheld are values, such as service tokens, that no server may be configured to receive.
	Withheld []string
	// Kept says that the program calls Keep first thing in main, so that servers can be started through it and no
	// descendant of theirs outlives them. Without it, and outside Linux, a server is ended with its process group.
	Kept bool
	// Transport opens the way to one HTTP server, by its name, with connections of its own. A bridge without it reaches
	// no HTTP server: where a URL leads is decided elsewhere.
	Transport func(server string) (http.RoundTripper, error)
	// Clock tells the time, time.Now by default.
	Clock func() time.Time
}

// Server configures one MCP server.
type Server struct {
	Name            string
	Description     string   // stands in for the description of a tool that has none
	Transport       string   // "stdio" or "http"; default: http when URL is set
	Command         string   // stdio: the program
	Args            []string // stdio
	Env             Secrets  // stdio: added to the child's minimal environment
	URL             string   // http: the streamable HTTP endpoint
	Headers         Secrets  // http: sent with every request
	Isolation       string   // "shared" (default) or "per_user": one client per tenant and user
	Scope           bool     // the run's scope is injected into arguments of its tools
	ForwardIdentity bool     // calls carry user_key and tenant_key
	TrustedText     bool     // a result that is no JSON may pass under a hard scope
	Elicitation     string   // "decline" (default), "cancel" or "accept_defaults": what a server that asks is answered
	Timeout         time.Duration
}

// The transports and isolations a server may have.
const (
	transportStdio   = "stdio"
	transportHTTP    = "http"
	isolationShared  = "shared"
	isolationPerUser = "per_user"
)

const (
	defaultResultBytes = 32 << 20
	defaultClients     = 32
	defaultTimeout     = 30 * time.Second
)

func (c Config) withDefaults() Config {
	c.MaxResultBytes = orDefault(c.MaxResultBytes, defaultResultBytes)
	c.MaxClients = orDefault(c.MaxClients, defaultClients)
	c.IdleTimeout = orDefault(c.IdleTimeout, 10*time.Minute)
	c.RetryFirst = orDefault(c.RetryFirst, 250*time.Millisecond)
	c.RetryMax = orDefault(c.RetryMax, 30*time.Second)
	c.Heartbeat = orDefault(c.Heartbeat, 15*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.Servers = slices.Clone(c.Servers)
	for i, server := range c.Servers {
		c.Servers[i] = server.withDefaults()
	}
	return c
}

func (s Server) withDefaults() Server {
	s.Timeout = orDefault(s.Timeout, defaultTimeout)
	s.Isolation = orDefault(s.Isolation, isolationShared)
	s.Elicitation = orDefault(s.Elicitation, elicitDecline)
	if s.Transport == "" {
		s.Transport = transportStdio
		if s.URL != "" {
			s.Transport = transportHTTP
		}
	}
	return s
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

func (c Config) validate() error {
	var problems []error
	seen := map[string]bool{}
	for i, server := range c.Servers {
		path := fmt.Sprintf("mcp.servers[%d]", i)
		if seen[server.Name] {
			problems = append(problems, fmt.Errorf("%s.name: %q is taken by another server", path, server.Name))
		}
		seen[server.Name] = true
		for _, problem := range server.problems(c.Withheld) {
			problems = append(problems, fmt.Errorf("%s.%w", path, problem))
		}
	}
	return errors.Join(problems...)
}

func (s Server) problems(withheld []string) []error {
	var found []error
	report := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(s.Name) {
		report("name: %q must be 1 to 64 letters, digits, dots, dashes or underscores", s.Name)
	}
	if s.Isolation != isolationShared && s.Isolation != isolationPerUser {
		report("isolation: %q is neither shared nor per_user", s.Isolation)
	}
	if !slices.Contains([]string{elicitDecline, elicitCancel, elicitDefaults}, s.Elicitation) {
		report("elicitation: %q is none of decline, cancel and accept_defaults", s.Elicitation)
	}
	if s.Timeout < 0 {
		report("timeout: must be positive")
	}
	switch s.Transport {
	case transportStdio:
		if s.Command == "" {
			report("command: a stdio server needs one")
		}
	case transportHTTP:
		if !validEndpoint(s.URL) {
			report("url: must be an http or https address")
		}
	default:
		report("transport: %q is neither stdio nor http", s.Transport)
	}
	for _, name := range s.Env.names() {
		if secretVariable(name) {
			report("env.%s: secrets of this service are not given to MCP servers", name)
		}
	}
	if s.carries(withheld) {
		report("env: a secret of this service stands in the configuration of this server")
	}
	return found
}

func validEndpoint(text string) bool {
	endpoint, err := url.Parse(text)
	return err == nil && (endpoint.Scheme == "http" || endpoint.Scheme == "https") && endpoint.Host != ""
}

// carries reports whether anything the server would receive contains one of the withheld values.
func (s Server) carries(withheld []string) bool {
	given := append([]string{s.URL, s.Command}, s.Args...)
	given = append(append(given, s.Env.values()...), s.Headers.values()...)
	for _, secret := range withheld {
		if secret == "" {
			continue
		}
		if slices.ContainsFunc(given, func(value string) bool { return strings.Contains(value, secret) }) {
			return true
		}
	}
	return false
}
