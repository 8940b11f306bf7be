package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/plugins/evidence"
	"github.com/fastreact/fastreact/plugins/mcpbridge"
	"github.com/fastreact/fastreact/sdk"
)

// investigation is the plugin that works on the configured folders of the agent tools.
const investigation = "investigation"

// options is the wiring list: everything that the program puts into a server.
func options(config host.Config, log *slog.Logger) (host.Options, error) {
	modules, err := builtinModules(config)
	if err != nil {
		return host.Options{}, err
	}
	out := host.NewEgress(config)
	bridge, err := mcpbridge.New(mcpbridge.Config{
		Transport: transports(config.MCP, out),
		Servers:   servers(config.MCP), Log: log, Kept: true,
		Reserved: append(toolNames(config.Plugins, modules), host.AgentToolNames(config)...), Withheld: withheld(config),
	})
	if err != nil {
		return host.Options{}, fmt.Errorf("set up MCP servers: %w", err)
	}
	sources, err := newEvidence(config, out, log)
	if err != nil {
		return host.Options{}, errors.Join(err, bridge.Close())
	}
	return host.Options{
		Config: config, Natives: []sdk.Native{bridge, sources}, Modules: modules, Version: version, Log: log, Egress: out,
	}, nil
}

// builtinModules returns the plugins that come with the program, each with what the program grants it. The one that
// reads investigations is there when the agent tools are.
func builtinModules(config host.Config) ([]host.Module, error) {
	grants := map[string]sdk.Capabilities{
		"files": {Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadWrite}}},
		"shell": {
			Files:    []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadWrite}},
			Progress: &sdk.ProgressAccess{Bytes: 64 << 10},
		},
		investigation: {Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadOnly}}},
	}
	embedded, err := builtin.Modules()
	if err != nil {
		return nil, advice{err, "Build the program with `make build`."}
	}
	var modules []host.Module
	reserved := map[string]string{investigation: host.AgentTools}
	for _, module := range embedded {
		if module.Name == investigation && config.AgentTools.Addr == "" {
			continue
		}
		modules = append(modules, host.Module{
			Name: module.Name, Bytes: module.Bytes, Grants: grants[module.Name], Profile: reserved[module.Name],
		})
	}
	return modules, nil
}

// servers translates the configured MCP servers into the bridge's words.
func servers(config host.MCPConfig) []mcpbridge.Server {
	var servers []mcpbridge.Server
	for _, s := range config.Servers {
		servers = append(servers, mcpbridge.Server{
			Name: s.Name, Description: s.Description, Transport: s.Transport,
			Command: s.Command, Args: s.Args, Env: revealed(s.Environment),
			URL: s.URL, Headers: revealed(s.Headers),
			Isolation: s.Isolation, Scope: s.Scope, ForwardIdentity: s.ForwardIdentity,
			TrustedText: s.TrustedText, Elicitation: s.Elicitation, Timeout: s.Timeout,
		})
	}
	return servers
}

// transports gives each MCP server the way to its own url.
func transports(config host.MCPConfig, out *host.Egress) func(server string) (http.RoundTripper, error) {
	return func(name string) (http.RoundTripper, error) {
		for _, server := range config.Servers {
			if server.Name == name {
				return out.MCP(server)
			}
		}
		return nil, fmt.Errorf("no MCP server is named %s", name)
	}
}

func revealed(secrets map[string]host.Secret) mcpbridge.Secrets {
	plain := mcpbridge.Secrets{}
	for name, secret := range secrets {
		plain[name] = secret.Reveal()
	}
	return plain
}

// withheld lists the secrets that no MCP server may receive.
func withheld(config host.Config) []string {
	kept := []string{
		config.Auth.ServiceToken.Reveal(), config.Auth.AdminToken.Reveal(), config.Auth.JWT.Secret.Reveal(),
		config.Model.APIKey.Reveal(), config.Approvals.Notify.Secret.Reveal(),
	}
	for _, source := range config.Harness.Chat.Evidence.MySQL.Datasources {
		kept = append(kept, source.DSN.Reveal())
	}
	return kept
}

// toolNames lists the tools of Wasm plugins and of evidence, so that no MCP tool takes one of their names. A plugin that
// cannot be read is left out: the server reports it.
func toolNames(config host.PluginsConfig, modules []host.Module) []string {
	files := [][]byte{}
	for _, module := range modules {
		files = append(files, module.Bytes)
	}
	for _, plugin := range config.Load {
		if code, err := host.ReadPlugin(plugin); err == nil {
			files = append(files, code)
		}
	}
	names := []string{evidence.QueryMetrics, evidence.QueryLogs, evidence.QueryMySQL}
	for _, code := range files {
		inspection, err := host.InspectPlugin(code)
		if err != nil {
			continue
		}
		for _, tool := range inspection.Manifest.Tools {
			names = append(names, tool.Name)
		}
	}
	return names
}

// newLog returns a logger of the configured form and level.
func newLog(config host.TelemetryConfig, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(config.LogLevel)) // the configuration admits valid levels only
	handling := &slog.HandlerOptions{Level: level}
	if config.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, handling))
	}
	return slog.New(slog.NewTextHandler(w, handling))
}
