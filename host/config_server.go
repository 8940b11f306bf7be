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
	ShutdownGrace   time.Duration `key:"shutdown_grace" default:"20s" min:"0s" max:"1h" about:"How long a stopping service lets its runs finish."`
}

// AuthMode says how callers prove themselves.
type AuthMode string

// The modes this version knows.
const (
	AuthNone         AuthMode = "none"
	AuthServiceToken AuthMode = "service_token"
)

// AuthConfig says who may call the service.
type AuthConfig struct {
	Mode             AuthMode        `key:"mode" default:"none" enum:"none|service_token" about:"none or service_token; a token that is set always requires itself."`
	ServiceTokenEnv  string          `key:"service_token_env" default:"FASTREACT_SERVICE_TOKEN" about:"Environment variable that holds the service token."`
	ServiceTokenFile string          `key:"service_token_file" default:"" about:"File that holds the service token, instead of a variable."`
	AdminTokenEnv    string          `key:"admin_token_env" default:"FASTREACT_ADMIN_TOKEN" about:"Environment variable that holds the administration token."`
	AdminTokenFile   string          `key:"admin_token_file" default:"" about:"File that holds the administration token, instead of a variable."`
	TrustedProxies   []string        `key:"trusted_proxies" about:"Not available in this version: must be empty."`
	JWT              JWTConfig       `key:"jwt" about:"Not available in this version: every key must be empty."`
	Operators        OperatorsConfig `key:"operators" about:"Who counts as an operator."`

	ServiceToken Secret // resolved from the keys above
	AdminToken   Secret // resolved from the keys above
}

// JWTConfig names the keys of JSON Web Tokens. This version refuses any value in it.
type JWTConfig struct {
	Issuer     string `key:"issuer" default:"" about:"Not available in this version."`
	Audience   string `key:"audience" default:"" about:"Not available in this version."`
	SecretEnv  string `key:"secret_env" default:"" about:"Not available in this version."`
	SecretFile string `key:"secret_file" default:"" about:"Not available in this version."`
	JWKSFile   string `key:"jwks_file" default:"" about:"Not available in this version."`
	JWKSURL    string `key:"jwks_url" default:"" about:"Not available in this version."`
}

// OperatorsConfig says who counts as an operator.
type OperatorsConfig struct {
	Role string `key:"role" default:"operator" about:"Role that makes a caller an operator of its tenant."`
}

// Loopback reports whether addr can be reached from this machine only.
func Loopback(addr string) bool {
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
	} else if !Loopback(c.Server.Addr) && c.Auth.ServiceToken == "" && !c.Insecure {
		report("server.addr", "other machines could call the service without a token",
			"set "+c.Auth.tokenSource()+", listen on 127.0.0.1, or start with --insecure")
	}
	for i, authority := range c.Server.Authorities {
		if problem := authorityProblem(authority); problem != "" {
			report(element("server.authorities", i), problem, "use a form like fastreact.example or fastreact.example:8443")
		}
	}
}

func (c Config) validateAuth(report reporter) {
	auth := c.Auth
	if auth.Mode == AuthServiceToken && auth.ServiceToken == "" {
		report("auth.mode", "no service token is set", "set "+auth.tokenSource())
	}
	if auth.AdminToken != "" && auth.AdminToken == auth.ServiceToken {
		report("auth.admin_token_env", "the administration token equals the service token", "use two different tokens")
	}
	if len(auth.TrustedProxies) > 0 {
		report("auth.trusted_proxies", notAvailable, "remove the key")
	}
	for _, unused := range []struct{ path, value string }{
		{"auth.jwt.issuer", auth.JWT.Issuer},
		{"auth.jwt.audience", auth.JWT.Audience},
		{"auth.jwt.secret_env", auth.JWT.SecretEnv},
		{"auth.jwt.secret_file", auth.JWT.SecretFile},
		{"auth.jwt.jwks_file", auth.JWT.JWKSFile},
		{"auth.jwt.jwks_url", auth.JWT.JWKSURL},
	} {
		if unused.value != "" {
			report(unused.path, notAvailable, "remove the key and use auth.mode: service_token")
		}
	}
}

func (a AuthConfig) tokenSource() string {
	if a.ServiceTokenFile != "" {
		return "the token in " + a.ServiceTokenFile
	}
	if a.ServiceTokenEnv != "" {
		return a.ServiceTokenEnv
	}
	return "FASTREACT_SERVICE_TOKEN"
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
