package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
)

func newServe(p program) *cobra.Command {
	s := &settings{}
	command := &cobra.Command{
		Use: "serve", Short: "Run the service", Args: exactly(),
		Long: "Runs the service until SIGTERM or SIGINT. Then it takes no new runs, lets those under way finish within\n" +
			"server.shutdown_grace, and ends; a second signal ends it at once. Without a configuration file the\n" +
			"defaults run: a scripted demo model on http://127.0.0.1:18741. Relative paths in the configuration are\n" +
			"relative to the working directory.",
		Example: "  fastreact serve\n  FASTREACT_SERVICE_TOKEN=… fastreact serve --config fastreact.yaml --addr 0.0.0.0:18741",
		RunE: func(command *cobra.Command, _ []string) error {
			loaded, err := s.load(p)
			if err != nil {
				return err
			}
			return serve(command.Context(), p, loaded, s)
		},
	}
	s.allFlags(command)
	return command
}

// serve runs the service until ctx ends or a signal says so.
func serve(ctx context.Context, p program, loaded *host.Loaded, s *settings) (err error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	log := newLog(loaded.Config.Telemetry, host.Discreet(loaded.Config, p.errs))
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // from here on a terminal that goes away does not end the service
	defer signal.Stop(hangups)
	announce(log, loaded)
	wired, err := options(loaded.Config, log)
	if err != nil {
		return err
	}
	if loaded.File != "" {
		wired.File = loaded.File
		wired.Reload = func() (*host.Loaded, error) { return s.load(p) }
	}
	wired.Announce = func(url string) { fmt.Fprintf(p.errs, "Agent tools: open %s (works once)\n", url) }
	server, err := host.New(ctx, wired)
	if err != nil {
		return advice{fmt.Errorf("the service cannot start: %w", err), "`fastreact doctor` examines each part."}
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	go reloadOn(ctx, hangups, server.Reload, log)
	return server.Run(ctx, func(addr net.Addr) {
		fmt.Fprintf(p.errs, "FastReAct %s listens on http://%s\n", version, addr)
		if loaded.Config.Model.BaseURL == "" {
			suggest(p.errs, loaded.Config, addr)
		}
	})
}

// suggest prints a first question for the scripted demo model: one about the example notes where their server is
// configured, else one that needs no server.
func suggest(w io.Writer, config host.Config, addr net.Addr) {
	about, credential := "a command line that runs in a sandbox.", ""
	question := `"messages": [{"role": "user", "content": "/call exec {\"command\": \"echo hello | tr a-z A-Z\"}"}]`
	for _, server := range config.MCP.Servers {
		if server.Name == "pska" {
			about = "a question whose scope the model cannot widen, answered from the example notes."
			question = `"messages": [{"role": "user", "content": "When does the harbour open?"}],
    "tool_policy": {"scope": {"mode": "hard", "knowledge_base_ids": ["kb_alpha"]}}`
		}
	}
	if config.Auth.ServiceToken != "" {
		credential = ` -H "Authorization: Bearer $FASTREACT_SERVICE_TOKEN"`
	}
	fmt.Fprintf(w, `
Try it in another terminal: %s

  curl -sN http://%s/v1/chat/completions%s -H 'Content-Type: application/json' -d '{
    "stream": true, "user_key": "pska:user_primary",
    %s}'

`, about, addr, credential, question)
	suggestDiagnosis(w, config, addr, credential)
}

// suggestDiagnosis names the page and a question that is answered from evidence, where there is some.
func suggestDiagnosis(w io.Writer, config host.Config, addr net.Addr, credential string) {
	query := "hello"
	if len(config.Harness.Chat.Evidence.Logs.Roots) > 0 {
		query = "diagnose the shop"
	}
	fmt.Fprintf(w, `Ask for checked answers on the page http://%s/ui/ or as a stream:

  curl -sN http://%s/api/chat%s -H 'Content-Type: application/json' -d '{"query": "%s"}'

`, addr, addr, credential, query)
}

// reloadOn takes up what may change while the service runs, for each hangup signal until ctx ends.
func reloadOn(ctx context.Context, hangups <-chan os.Signal, reload func() error, log *slog.Logger) {
	for {
		select {
		case <-hangups:
			if err := reload(); err != nil {
				log.Error("SIGHUP: what could not be read stays as it was", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// harnessLine says what guarded runs may use, and where they look.
func harnessLine(chat host.ChatHarnessConfig) []any {
	databases := []string{}
	for name := range chat.Evidence.MySQL.Datasources {
		databases = append(databases, name)
	}
	slices.Sort(databases)
	return []any{
		slog.Int("worker", chat.Worker.Size), slog.Int("model", chat.Model.Size), slog.Int("tool", chat.Tool.Size),
		slog.Duration("run_timeout", chat.RunTimeout), slog.Duration("stream_timeout", chat.StreamTimeout),
		slog.Bool("prometheus", chat.Evidence.Prometheus.URL != ""), slog.Int("log_roots", len(chat.Evidence.Logs.Roots)),
		slog.Any("datasources", databases),
	}
}

// announce logs once what decides about safety.
func announce(log *slog.Logger, loaded *host.Loaded) {
	config := loaded.Config
	servers := []string{}
	for _, server := range config.MCP.Servers {
		servers = append(servers, server.Name)
	}
	log.Info("configuration",
		slog.String("version", version), slog.String("commit", builtCommit()), slog.String("file", loaded.File),
		slog.String("auth_mode", string(config.Auth.Mode)), slog.Bool("service_token", config.Auth.ServiceToken != ""),
		slog.Bool("administration", config.Auth.AdminToken != ""), slog.Any("mcp_servers", servers),
	)
	log.Info("harness", harnessLine(config.Harness.Chat)...)
	log.Info("policy",
		slog.String("default_action", config.Policy.DefaultAction), slog.Any("tool_rules", config.Policy.ToolRules),
		slog.Any("user_rules", config.Policy.UserRules), slog.Any("tenant_rules", config.Policy.TenantRules),
		slog.Bool("allow_all", config.AllowAll), slog.Duration("approval_timeout", config.Approvals.Timeout),
	)
	if config.AllowAll {
		log.Warn("--allow-all is set: policy rules and the forbidden list do not apply")
	}
	if config.Insecure && config.Auth.Mode == host.AuthNone {
		log.Warn("--insecure is set: whoever reaches this address may use the service")
	}
}
