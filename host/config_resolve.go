package host

import (
	"strings"
)

// secretSource is where one secret may come from.
type secretSource struct {
	path     string // path without _env or _file
	env      string // variable named by the _env key
	file     string // file named by the _file key
	standard string // default variable
	override bool   // the default variable wins over what the file names
	target   *Secret
}

// resolve reads what the configuration only names: secrets, headers, the system prompt. It also fills the defaults
// that depend on other values.
func (d *decoder) resolve(config *Config, getenv func(string) string) {
	auth, model := &config.Auth, &config.Model
	d.secret(secretSource{
		"auth.service_token", auth.ServiceTokenEnv, auth.ServiceTokenFile,
		"FASTREACT_SERVICE_TOKEN", true, &auth.ServiceToken,
	}, getenv)
	d.secret(secretSource{
		"auth.admin_token", auth.AdminTokenEnv, auth.AdminTokenFile,
		"FASTREACT_ADMIN_TOKEN", false, &auth.AdminToken,
	}, getenv)
	d.secret(secretSource{
		"auth.jwt.secret", auth.JWT.SecretEnv, auth.JWT.SecretFile, "", false, &auth.JWT.Secret,
	}, getenv)
	d.secret(secretSource{
		"model.api_key", model.APIKeyEnv, model.APIKeyFile,
		"FASTREACT_MODEL_API_KEY", true, &model.APIKey,
	}, getenv)
	told := &config.Approvals.Notify
	d.secret(secretSource{
		"approvals.notify.secret", told.SecretEnv, told.SecretFile, "", false, &told.Secret,
	}, getenv)
	d.resolveSecrets(config, getenv)
	d.resolveStore(&config.Store, getenv)
	d.resolveEvidence(&config.Harness.Chat.Evidence, getenv)
	if auth.ServiceToken != "" && auth.Mode == AuthNone {
		auth.Mode = AuthServiceToken
		d.origins["auth.mode"] = FromEnvironment
		if getenv("FASTREACT_SERVICE_TOKEN") == "" && auth.ServiceTokenFile != "" {
			d.origins["auth.mode"] = FromFile
		}
	}
	if file := config.Agent.SystemPromptFile; file != "" {
		text, err := readBounded(file)
		if err != nil {
			d.report("agent.system_prompt_file", "cannot be read: "+err.Error(), relativeHint)
		}
		config.Agent.SystemPrompt = string(text)
	}
	for i := range config.MCP.Servers {
		server, path := &config.MCP.Servers[i], element("mcp.servers", i)
		server.complete(path, func(path string) bool { _, given := d.origins[path]; return given })
		d.resolveServer(server, path, getenv)
	}
}

const relativeHint = "relative paths are relative to the working directory"

// secret reads one secret and reports when it cannot, or when it could not stand in a header.
func (d *decoder) secret(s secretSource, getenv func(string) string) {
	_, named := d.origins[s.path+"_env"]
	named = named && s.env != "" && s.env != s.standard
	if named && s.file != "" {
		d.report(s.path+"_file", "the secret has two sources", "keep one of "+s.path+"_env and "+s.path+"_file")
		return
	}
	at, value := s.path+"_env", ""
	switch {
	case s.override && getenv(s.standard) != "":
		value = getenv(s.standard)
	case s.file != "":
		at = s.path + "_file"
		text, err := readBounded(s.file)
		if err != nil {
			d.report(at, "cannot be read: "+err.Error(), relativeHint)
			return
		}
		value = strings.TrimRight(string(text), "\r\n")
		if value == "" {
			d.report(at, "the file is empty", "write the secret into it")
		}
	case s.env != "":
		value = getenv(s.env)
		if value == "" && named {
			d.report(at, "the environment variable "+s.env+" is not set", "set it, or remove the key")
		}
	}
	if !headerSafe(value) {
		d.report(at, "the secret holds white space or control characters", "use visible ASCII characters only")
		return
	}
	*s.target = Secret(value)
}

// headerSafe reports whether a secret is made of visible ASCII characters only.
func headerSafe(secret string) bool {
	for i := range len(secret) {
		if secret[i] <= ' ' || secret[i] > '~' {
			return false
		}
	}
	return true
}

// resolveServer reads the environment and the headers of one MCP server.
func (d *decoder) resolveServer(server *MCPServerConfig, path string, getenv func(string) string) {
	server.Environment = map[string]Secret{}
	for _, name := range sortedKeys(server.Env) {
		server.Environment[name] = server.Env[name]
	}
	for _, name := range sortedKeys(server.EnvFrom) {
		server.Environment[name] = d.variable(server.EnvFrom[name], path+".env_from."+name, getenv)
	}
	server.Headers = map[string]Secret{}
	for _, name := range sortedKeys(server.HeadersEnv) {
		server.Headers[name] = d.variable(server.HeadersEnv[name], path+".headers_env."+name, getenv)
	}
	for _, name := range sortedKeys(server.HeadersFile) {
		at := path + ".headers_file." + name
		text, err := readBounded(server.HeadersFile[name])
		if err != nil {
			d.report(at, "cannot be read: "+err.Error(), relativeHint)
		}
		server.Headers[name] = Secret(strings.TrimRight(string(text), "\r\n"))
	}
	for _, name := range sortedKeys(server.Headers) {
		if strings.ContainsAny(server.Headers[name].Reveal(), "\r\n\x00") {
			d.report(path, "the value of header "+name+" holds a line break", "use one line")
		}
	}
}

func (d *decoder) variable(name, path string, getenv func(string) string) Secret {
	value := getenv(name)
	if value == "" {
		d.report(path, "the environment variable "+name+" is not set", "set it, or remove the key")
	}
	return Secret(value)
}
