package mcpbridge

import (
	"slices"
	"strings"
)

// passedOn are the variables of this process that a child gets. Everything else, above all FASTREACT_*, stays here.
func passedOn() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM",
		"TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// childEnv builds a child's environment from this process's variables (as "NAME=value") and the configured ones.
func childEnv(own []string, configured Secrets) []string {
	var env []string
	allowed := passedOn()
	for _, variable := range own {
		name, _, _ := strings.Cut(variable, "=")
		if _, replaced := configured[name]; !replaced && slices.Contains(allowed, name) {
			env = append(env, variable)
		}
	}
	for _, name := range configured.names() {
		env = append(env, name+"="+configured[name])
	}
	return env
}

// secretVariable reports whether a variable of this name holds a secret of this service.
func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	if !strings.HasPrefix(name, "FASTREACT_") {
		return false
	}
	return slices.ContainsFunc([]string{"TOKEN", "KEY", "SECRET", "DSN", "PASSWORD"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}
