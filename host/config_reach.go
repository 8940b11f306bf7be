package host

import (
	"time"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/sdk"
)

// HTTPGrant lets a plugin send requests to one origin.
type HTTPGrant struct {
	Scheme    string   `key:"scheme" default:"" enum:"|http|https" about:"http or https; empty means https."`
	Host      string   `key:"host" default:"" about:"Name or address of the host, exactly; no pattern."`
	Port      int      `key:"port" default:"0" min:"0" max:"65535" about:"Port; 0 means the scheme's own."`
	Methods   []string `key:"methods" about:"Methods in capitals; empty means GET and HEAD."`
	Addresses []string `key:"addresses" about:"Address ranges that the host may have though they are not public, such as 10.1.2.0/24."`
}

// SecretGrant lets a plugin name a secret in requests to some hosts.
type SecretGrant struct {
	Name  string   `key:"name" default:"" about:"Name of the secret in plugins.secrets; the plugin writes secret://<name>."`
	Hosts []string `key:"hosts" about:"Hosts that the value may go to, host or host:port."`
}

// KVConfig grants values that are kept from call to call.
type KVConfig struct {
	Bytes int64 `key:"bytes" default:"0" min:"0" max:"1073741824" about:"Keys and values of one tenant together; 0 grants nothing."`
}

// SecretConfig is a secret that plugins may name and never see.
type SecretConfig struct {
	Name      string `key:"name" default:"" about:"Name of the secret: letters, digits, hyphens and underscores."`
	ValueEnv  string `key:"value_env" default:"" about:"Environment variable that holds the value."`
	ValueFile string `key:"value_file" default:"" about:"File that holds the value, instead of a variable."`

	Value Secret // resolved from the keys above
}

// EgressConfig bounds requests that plugins make.
type EgressConfig struct {
	Timeout     time.Duration `key:"timeout" default:"30s" min:"10ms" max:"1h" about:"How long one request may take, redirects and answer included."`
	HeaderBytes int64         `key:"header_bytes" default:"65536" min:"1024" max:"16777216" about:"Header of one answer, also of one to an MCP request."`
}

// reach adds what a plugin may reach beyond its memory and files to its grants.
func (g GrantsConfig) reach(granted *sdk.Capabilities) {
	for _, one := range g.HTTP {
		granted.HTTP = append(granted.HTTP, one.access())
	}
	for _, one := range g.Secrets {
		granted.Secrets = append(granted.Secrets, sdk.SecretAccess{Name: one.Name, Hosts: one.Hosts})
	}
	if g.KV.Bytes > 0 {
		granted.KV = &sdk.KVAccess{Bytes: g.KV.Bytes}
	}
}

func (g HTTPGrant) access() sdk.HTTPAccess {
	return sdk.HTTPAccess{Scheme: g.Scheme, Host: g.Host, Port: g.Port, Methods: g.Methods, Addresses: g.Addresses}
}

// validateReach reports origins that are not written as they are compared, and secrets that nobody defined.
func (g GrantsConfig) validateReach(path string, secrets []SecretConfig, report reporter) {
	for i, one := range g.HTTP {
		if _, err := egress.NewGrants([]sdk.HTTPAccess{one.access()}); err != nil {
			report(element(path+".http", i), "is no origin: "+err.Error(),
				"name one host as it is compared, such as {host: api.example, methods: [GET]}")
		}
	}
	defined := map[string]bool{}
	for _, secret := range secrets {
		defined[secret.Name] = true
	}
	for i, one := range g.Secrets {
		at := element(path+".secrets", i)
		if err := (sdk.SecretAccess{Name: one.Name, Hosts: one.Hosts}).Validate(); err != nil {
			report(at, "is no secret bound to hosts: "+err.Error(), "use a form like {name: token, hosts: [api.example]}")
		} else if !defined[one.Name] {
			report(at+".name", "no secret has this name", "add it to plugins.secrets")
		}
	}
}

// validateSecrets reports secrets that could not be named, or not be looked for.
func (c Config) validateSecrets(report reporter) {
	seen := map[string]bool{}
	for i, secret := range c.Plugins.Secrets {
		path := element("plugins.secrets", i)
		switch {
		case sdk.CheckSecretName(secret.Name) != nil:
			report(path+".name", "is no name of a secret", "use 1 to 64 letters, digits, hyphens and underscores")
		case seen[secret.Name]:
			report(path+".name", "two secrets have this name", "give each its own name")
		case secret.ValueEnv == "" && secret.ValueFile == "":
			report(path, "the secret has no value", "name an environment variable with value_env, or a file with value_file")
		case secret.Value != "" && len(secret.Value.Reveal()) < egress.LeastSecret:
			report(path, "the secret is shorter than 8 bytes, so that it would be found in ordinary words", "use a longer one")
		}
		seen[secret.Name] = true
	}
}

// resolveSecrets reads the values of plugins' secrets.
func (d *decoder) resolveSecrets(config *Config, getenv func(string) string) {
	for i := range config.Plugins.Secrets {
		secret := &config.Plugins.Secrets[i]
		d.secret(secretSource{
			element("plugins.secrets", i) + ".value", secret.ValueEnv, secret.ValueFile, "", false, &secret.Value,
		}, getenv)
	}
}
