package host

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// AuthMode says how callers prove themselves.
type AuthMode string

// The modes. In each of them the service token, where one is set, speaks for anyone.
const (
	AuthNone           AuthMode = "none"
	AuthServiceToken   AuthMode = "service_token"
	AuthTrustedHeaders AuthMode = "trusted_headers"
	AuthJWT            AuthMode = "jwt"
)

// AuthConfig says who may call the service.
type AuthConfig struct {
	Mode             AuthMode        `key:"mode" default:"none" enum:"none|service_token|trusted_headers|jwt" about:"none, service_token, trusted_headers or jwt; a service token that is set is always asked for, or a user's credential."`
	ServiceTokenEnv  string          `key:"service_token_env" default:"FASTREACT_SERVICE_TOKEN" about:"Environment variable that holds the service token."`
	ServiceTokenFile string          `key:"service_token_file" default:"" about:"File that holds the service token, instead of a variable."`
	AdminTokenEnv    string          `key:"admin_token_env" default:"FASTREACT_ADMIN_TOKEN" about:"Environment variable that holds the administration token; without one, administration is switched off."`
	AdminTokenFile   string          `key:"admin_token_file" default:"" about:"File that holds the administration token, instead of a variable."`
	TrustedProxies   []string        `key:"trusted_proxies" about:"Addresses or networks, such as 10.0.0.0/8, whose identity headers are believed in mode trusted_headers."`
	JWT              JWTConfig       `key:"jwt" about:"How JSON Web Tokens are checked in mode jwt."`
	Operators        OperatorsConfig `key:"operators" about:"Who counts as an operator."`
	AllowUsers       []string        `key:"allow_users" about:"User keys that are served; empty means all. Every list counts."`
	BlockUsers       []string        `key:"block_users" about:"User keys that are not served."`
	AllowTenants     []string        `key:"allow_tenants" about:"Tenant keys whose users are served; empty means all."`
	BlockTenants     []string        `key:"block_tenants" about:"Tenant keys whose users are not served."`
	Page             PageConfig      `key:"page" about:"Logins of the page at /ui/, where callers need a credential."`

	ServiceToken Secret // resolved from the keys above
	AdminToken   Secret // resolved from the keys above
}

// JWTConfig says how JSON Web Tokens are checked. Keys have one source: a shared secret (HS256), or a key set in a file
// or at a URL (RS256, ES256, EdDSA).
type JWTConfig struct {
	Issuer       string        `key:"issuer" default:"" about:"The iss that a token must have."`
	Audience     string        `key:"audience" default:"" about:"The aud that a token must have, or hold."`
	SecretEnv    string        `key:"secret_env" default:"" about:"Environment variable that holds the shared secret of HS256."`
	SecretFile   string        `key:"secret_file" default:"" about:"File that holds the shared secret, instead of a variable."`
	JWKSFile     string        `key:"jwks_file" default:"" about:"File with the issuer's public keys, a JSON Web Key Set."`
	JWKSURL      string        `key:"jwks_url" default:"" about:"Address of the issuer's public keys: https, or http on this machine. Redirects are not followed."`
	RolesClaim   string        `key:"roles_claim" default:"roles" about:"Claim that holds the roles, a list or a text; dots lead into objects, such as realm_access.roles."`
	Leeway       time.Duration `key:"leeway" default:"0s" min:"0s" max:"5m" about:"How far clocks may differ when exp and nbf are checked."`
	JWKSRefresh  time.Duration `key:"jwks_refresh" default:"5m" min:"1s" max:"24h" about:"Age after which the key set is read again; while that fails, the last good one counts."`
	JWKSCooldown time.Duration `key:"jwks_cooldown" default:"10s" min:"100ms" max:"1h" about:"Least time between two readings because of an unknown key, and after a reading that failed."`
	JWKSTimeout  time.Duration `key:"jwks_timeout" default:"5s" min:"10ms" max:"1m" about:"How long reading the key set may take."`
	JWKSMaxBytes int64         `key:"jwks_max_bytes" default:"262144" min:"1" max:"16777216" about:"Largest key set."`

	Secret Secret // resolved from the keys above
}

// OperatorsConfig says who counts as an operator.
type OperatorsConfig struct {
	Role string `key:"role" default:"operator" about:"Role that makes a caller an operator of its tenant; empty means that nobody is one."`
}

// PageConfig bounds logins of the page. Codes and sessions live in memory: a restart ends them.
type PageConfig struct {
	CodeTTL     time.Duration `key:"code_ttl" default:"5m" min:"1s" max:"1h" about:"How long a one-time code waits to be used."`
	SessionTTL  time.Duration `key:"session_ttl" default:"12h" min:"1s" max:"720h" about:"How long a login lasts."`
	MaxCodes    int           `key:"max_codes" default:"16" min:"1" max:"10000" about:"Codes that may wait to be used; further ones are refused."`
	MaxSessions int           `key:"max_sessions" default:"64" min:"1" max:"100000" about:"Logins at once; beyond it the one that ends first is ended."`
}

// open reports whether whoever reaches the service may use it.
func (a AuthConfig) open() bool { return a.Mode == AuthNone && a.ServiceToken == "" }

// proxies returns the trusted peers, without those that are no addresses.
func (a AuthConfig) proxies() (networks []netip.Prefix) {
	for _, text := range a.TrustedProxies {
		if network, err := parseNetwork(text); err == nil {
			networks = append(networks, network)
		}
	}
	return networks
}

// parseNetwork reads a network, or an address that stands for itself.
func parseNetwork(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		network, err := netip.ParsePrefix(text)
		return network.Masked(), err
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	address = address.Unmap().WithZone("")
	return netip.PrefixFrom(address, address.BitLen()), nil
}

func (c Config) validateAuth(report reporter) {
	auth := c.Auth
	if auth.Mode == AuthServiceToken && auth.ServiceToken == "" {
		report("auth.mode", "no service token is set", "set "+auth.tokenSource())
	}
	if auth.AdminToken != "" && auth.AdminToken == auth.ServiceToken {
		report("auth.admin_token_env", "the administration token equals the service token", "use two different tokens")
	}
	if auth.Mode == AuthTrustedHeaders && len(auth.TrustedProxies) == 0 {
		report("auth.trusted_proxies", "is empty: nobody's headers could be believed", "list the proxies' addresses or networks")
	}
	for i, text := range auth.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			report(element("auth.trusted_proxies", i), "is neither an address nor a network", "use a form like 127.0.0.1 or 10.0.0.0/8")
		}
	}
	for path, list := range map[string][]string{
		"auth.allow_users": auth.AllowUsers, "auth.block_users": auth.BlockUsers,
		"auth.allow_tenants": auth.AllowTenants, "auth.block_tenants": auth.BlockTenants,
	} {
		for i, key := range list {
			if strings.TrimSpace(key) != key || key == "" {
				report(element(path, i), "is no key", "write it as credentials name it, such as pska:ann")
			}
		}
	}
	auth.validateJWT(report)
}

// validateJWT reports what mode jwt lacks. Two sources of keys would let a token choose how it is checked.
func (a AuthConfig) validateJWT(report reporter) {
	if problem := jwksURLProblem(a.JWT.JWKSURL); problem != "" {
		report("auth.jwt.jwks_url", problem, "use a form like https://login.example/jwks.json")
	}
	if a.Mode != AuthJWT {
		return
	}
	if a.JWT.Issuer == "" {
		report("auth.jwt.issuer", "is required in mode jwt", "set it to the iss of the tokens")
	}
	if a.JWT.Audience == "" {
		report("auth.jwt.audience", "is required in mode jwt", "set it to the aud that names this service")
	}
	sources := []string{}
	for _, source := range []struct{ path, value string }{
		{"auth.jwt.secret_env", a.JWT.Secret.Reveal()},
		{"auth.jwt.jwks_file", a.JWT.JWKSFile},
		{"auth.jwt.jwks_url", a.JWT.JWKSURL},
	} {
		if source.value != "" {
			sources = append(sources, source.path)
		}
	}
	const hint = "set one of secret_env, secret_file, jwks_file and jwks_url"
	switch {
	case len(sources) == 0:
		report("auth.jwt.secret_env", "mode jwt has no keys", hint)
	case len(sources) > 1:
		report(sources[1], "the keys have two sources, "+strings.Join(sources, " and "), hint)
	}
	if secret := a.JWT.Secret; secret != "" && (secret == a.ServiceToken || secret == a.AdminToken) {
		report("auth.jwt.secret_env", "the secret of the tokens equals another token", "use different secrets")
	}
}

// jwksURLProblem says what is wrong with an address of keys: whoever can change what comes from it makes the tokens.
func jwksURLProblem(text string) string {
	if text == "" {
		return ""
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Host == "" || parsed.User != nil:
		return "is no address without credentials in it"
	case parsed.Scheme == "https", parsed.Scheme == "http" && loopback(parsed.Hostname()+":0"),
		parsed.Scheme == "http" && parsed.Hostname() == "::1":
		return ""
	}
	return "must use https"
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
