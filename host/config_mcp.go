package host

import (
	"regexp"
	"time"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
)

// MCPConfig lists MCP servers.
type MCPConfig struct {
	Servers []MCPServerConfig `key:"servers" about:"MCP servers."`
}

// MCPServerConfig starts or reaches one MCP server.
type MCPServerConfig struct {
	Name            string            `key:"name" default:"" about:"Name of the server; its tools are called <name>_<tool>."`
	Description     string            `key:"description" default:"" about:"What the server is for."`
	Command         string            `key:"command" default:"" about:"Program to start, for transport stdio."`
	Args            []string          `key:"args" about:"Arguments of the program."`
	Env             map[string]Secret `key:"env" about:"Environment of the program; never secrets, those come by env_from."`
	EnvFrom         map[string]string `key:"env_from" about:"Environment of the program: variable → variable of this process that holds its value."`
	URL             string            `key:"url" default:"" about:"Endpoint of the server, for transport http."`
	Addresses       []string          `key:"addresses" about:"Address ranges that the host of url may have though they are not public, such as 10.1.2.0/24; an address or localhost in url names itself."`
	HeadersEnv      map[string]string `key:"headers_env" about:"Request headers: header → environment variable that holds its value."`
	HeadersFile     map[string]string `key:"headers_file" about:"Request headers: header → file that holds its value."`
	Transport       string            `key:"transport" default:"" enum:"|stdio|http" about:"stdio or http; empty means stdio with a command, http with a url."`
	Isolation       string            `key:"isolation" default:"shared" enum:"shared|per_user" about:"One server process for everybody, or one for each user."`
	Scope           bool              `key:"scope" default:"false" about:"Whether a run's scope is injected into its tools' arguments; true for a server named pska."`
	ForwardIdentity bool              `key:"forward_identity" default:"false" about:"Whether calls carry user_key and tenant_key; true for a server named pska."`
	TrustedText     bool              `key:"trusted_text" default:"false" about:"Whether results that are no JSON may pass under a hard scope."`
	Elicitation     string            `key:"elicitation" default:"decline" enum:"decline|cancel|accept_defaults" about:"What a server is answered that asks a person something during a call."`
	Timeout         time.Duration     `key:"timeout" default:"30s" min:"1ms" max:"24h" about:"How long one request to the server may take."`

	Environment map[string]Secret // resolved: Env and EnvFrom
	Headers     map[string]Secret // resolved: HeadersEnv and HeadersFile
}

// knowledgeServer is the server name whose tools are scoped and told the identity unless the file says otherwise.
const knowledgeServer = "pska"

var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// complete fills the defaults that depend on other values.
func (s *MCPServerConfig) complete(path string, given func(path string) bool) {
	if s.Transport == "" && s.URL != "" && s.Command == "" {
		s.Transport = "http"
	}
	if s.Transport == "" {
		s.Transport = "stdio"
	}
	if !given(path + ".scope") {
		s.Scope = s.Name == knowledgeServer
	}
	if !given(path + ".forward_identity") {
		s.ForwardIdentity = s.Name == knowledgeServer
	}
}

func (c Config) validateMCP(report reporter) {
	seen := map[string]bool{}
	for i, server := range c.MCP.Servers {
		path := element("mcp.servers", i)
		switch {
		case server.Name == "":
			report(path+".name", "is missing", "give the server a name, such as docs")
		case !serverName.MatchString(server.Name):
			report(path+".name", "is not a server name", "use letters, digits, dots, underscores and hyphens, at most 64")
		case seen[server.Name]:
			report(path+".name", "two servers have this name", "give each server its own name")
		}
		seen[server.Name] = true
		server.validateTransport(path, report)
		server.validateHeaders(path, report)
	}
}

func (s MCPServerConfig) validateTransport(path string, report reporter) {
	switch s.Transport {
	case "stdio":
		if s.Command == "" {
			report(path+".command", "is missing", "name the program to start, or give a url")
		}
		if s.URL != "" {
			report(path+".url", "has no meaning with transport stdio", "remove it, or use transport: http")
		}
	case "http":
		if s.Command != "" {
			report(path+".command", "has no meaning with transport http", "remove it, or use transport: stdio")
		}
		if s.URL == "" {
			report(path+".url", "is missing", "give the server's endpoint, such as http://127.0.0.1:9000/mcp")
		} else if problem := urlProblem(s.URL); problem != "" {
			report(path+".url", problem, "use a form like http://127.0.0.1:9000/mcp")
		} else if _, err := egress.Endpoint(s.URL, s.Addresses); err != nil {
			report(path+".url", "is not written as it is compared, or addresses hold no ranges: "+err.Error(),
				"use a form like http://127.0.0.1:9000/mcp, and ranges like 10.1.2.0/24")
		}
	}
}

func (s MCPServerConfig) validateHeaders(path string, report reporter) {
	for _, table := range []struct {
		key     string
		headers map[string]string
	}{{"headers_env", s.HeadersEnv}, {"headers_file", s.HeadersFile}} {
		for _, name := range sortedKeys(table.headers) {
			at := path + "." + table.key + "." + name
			if !headerName.MatchString(name) {
				report(at, "is not a header name", "use letters, digits and hyphens")
			}
			if table.key == "headers_file" && s.HeadersEnv[name] != "" {
				report(at, "headers_env sets this header too", "keep one of them")
			}
		}
	}
}
