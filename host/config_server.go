package host

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// ServerConfig sets up the HTTP listener.
type ServerConfig struct {
	Addr            string        `key:"addr" default:"127.0.0.1:18741" about:"Address to listen on, host:port."`
	Authorities     []string      `key:"authorities" about:"Host headers that are served, host or host:port; empty means the bound address and localhost."`
	DefaultStream   bool          `key:"default_stream" default:"false" about:"What an absent stream field in a chat request means."`
	MaxRequestBytes int64         `key:"max_request_bytes" default:"1048576" min:"1" max:"268435456" about:"Largest request body; larger ones get 413."`
	Keepalive       time.Duration `key:"keepalive" default:"15s" min:"10ms" max:"10m" about:"Silence after which an event stream sends a comment."`
	RateLimits      RateLimits    `key:"rate_limits" about:"How many requests may come."`
	ShutdownGrace   time.Duration `key:"shutdown_grace" default:"20s" min:"0s" max:"1h" about:"How long a stopping service lets its runs finish."`
}

// RateLimits bounds requests. More of them get 429 with Retry-After.
type RateLimits struct {
	PerCredential RateConfig `key:"per_credential" about:"Requests of one credential; those who come without one are told apart by address."`
	PerUser       RateConfig `key:"per_user" about:"Runs and policy checks on behalf of one user, whoever asks for them."`
	MaxKeys       int        `key:"max_keys" default:"10000" min:"1" max:"1000000" about:"Credentials and users that are remembered; beyond it the one that was silent longest begins anew."`
}

// RateConfig is one rate.
type RateConfig struct {
	PerMinute int `key:"per_minute" default:"0" min:"0" max:"1000000" about:"Requests a minute; 0 means no limit."`
	Burst     int `key:"burst" default:"0" min:"0" max:"1000000" about:"Requests at once; 0 means a minute's worth."`
}

// loopback reports whether addr can be reached from this machine only.
func loopback(addr string) bool {
	hostname, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if hostname == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(hostname)
	return err == nil && ip.IsLoopback()
}

func (c Config) validateServer(report reporter) {
	if problem := addrProblem(c.Server.Addr); problem != "" {
		report("server.addr", problem, "use a form like 127.0.0.1:18741")
	} else if !loopback(c.Server.Addr) && c.Auth.open() && !c.Insecure {
		report("server.addr", "other machines could call the service without a token",
			"set "+c.Auth.tokenSource()+", listen on 127.0.0.1, or start with --insecure")
	}
	for i, authority := range c.Server.Authorities {
		if problem := authorityProblem(authority); problem != "" {
			report(element("server.authorities", i), problem, "use a form like fastreact.example or fastreact.example:8443")
		}
	}
}

func addrProblem(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "is not an address"
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		return "has no port between 0 and 65535"
	}
	return ""
}

func authorityProblem(authority string) string {
	if authority == "" {
		return "is empty"
	}
	if strings.ContainsAny(authority, "/@ \t*?#") {
		return "is not a host name"
	}
	return ""
}
