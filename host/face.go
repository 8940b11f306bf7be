package host

import (
	"context"
	"log/slog"
	"strings"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/host/internal/web/chat"
	"github.com/fastreact/fastreact/host/internal/web/console"
	"github.com/fastreact/fastreact/host/internal/web/fastreact"
)

func (s *Server) buildFace(context.Context) (err error) {
	cfg := s.options.Config
	if token := cfg.Auth.ServiceToken.Reveal(); token != "" && len(token) < web.MinSecret {
		s.options.Log.Warn("the service token is so short that it cannot be masked in answers; use a long random one",
			slog.Int("least_bytes", web.MinSecret))
	}
	face := fastreact.New(fastreact.Config{
		Engine: s.runs, Records: s.ledger, Desk: s.desk, Inspector: inspector{s}, Administration: s,
		Version: s.options.Version, Model: modelName(cfg.Model), DefaultStream: cfg.Server.DefaultStream,
		AuthMode: web.AuthMode(cfg.Auth.Mode), AuthRequired: !cfg.Auth.open(), SelfApproval: cfg.Approvals.Self,
		AgentReady: s.takesRuns, KeepAlive: cfg.Server.Keepalive, Poll: pollInterval, Closing: s.stopping,
		Skills: s.skills.All, Profiles: profiles(), ParseToolPolicy: parseToolPolicy, Prometheus: cfg.Telemetry.Prometheus,
	})
	tokens, err := tokenReader(cfg.Auth, s.options.Log)
	if err != nil {
		return err
	}
	page, err := console.New()
	if err != nil {
		return err
	}
	entrance, err := web.New(doorConfig(cfg, tokens, s.options.Log), face, s.chatFace(), page)
	s.handler = entrance
	return err
}

// chatFace returns the strict chat stream. Its answers leave through the exits of the harness.
func (s *Server) chatFace() web.Face {
	cfg := s.options.Config
	bounds := cfg.Harness.Chat
	return chat.New(chat.Config{
		Engine: s.runs, Records: s.ledger, Feedback: s.ledger, Worker: s.harness.Worker(),
		StreamTimeout: bounds.StreamTimeout, RunTimeout: bounds.RunTimeout, MaxRequestBytes: int64(bounds.MaxRequestBytes),
		KeepAlive: cfg.Server.Keepalive, Poll: pollInterval, Closing: s.stopping, Log: s.options.Log,
	})
}

// doorConfig sets up the door that every face stands behind.
func doorConfig(cfg Config, tokens web.TokenReader, log *slog.Logger) web.Config {
	auth, limits := cfg.Auth, cfg.Server.RateLimits
	return web.Config{
		Authorities: cfg.Server.Authorities, MaxBody: cfg.Server.MaxRequestBytes,
		Auth: web.AuthMode(auth.Mode), ServiceToken: auth.ServiceToken.Reveal(), AdminToken: auth.AdminToken.Reveal(),
		Proxies: auth.proxies(), Tokens: tokens, OperatorRole: auth.Operators.Role,
		Guests: web.Guests{
			AllowUsers: auth.AllowUsers, BlockUsers: auth.BlockUsers,
			AllowTenants: auth.AllowTenants, BlockTenants: auth.BlockTenants,
		},
		Limit:     web.NewThrottle(web.Rate(limits.PerCredential), limits.MaxKeys, nil),
		UserLimit: web.NewThrottle(web.Rate(limits.PerUser), limits.MaxKeys, nil),
		Page: web.PageConfig{
			CodeTTL: auth.Page.CodeTTL, SessionTTL: auth.Page.SessionTTL,
			MaxCodes: auth.Page.MaxCodes, MaxSessions: auth.Page.MaxSessions,
		},
		Secrets: secretsOf(cfg), Log: log,
	}
}

// parseToolPolicy gives policy's reading of a request field to the face, in the face's words.
func parseToolPolicy(raw any) (run.ToolPolicy, []web.FieldError) {
	parsed, mistakes := policy.ParseToolPolicy(raw)
	var fields []web.FieldError
	for _, m := range mistakes {
		fields = append(fields, web.FieldError{Type: "value_error", Loc: relative(m.Loc), Msg: m.Message, Input: m.Input})
	}
	return parsed, fields
}

// relative drops "body" and "tool_policy", which the face puts before every location itself.
func relative(loc []string) []any {
	inner := []any{}
	for _, part := range loc[min(len(loc), 2):] {
		inner = append(inner, part)
	}
	return inner
}

// secretsOf lists the configured secrets, so that they can be masked in everything that leaves.
func secretsOf(cfg Config) []string {
	secrets := []string{
		cfg.Auth.AdminToken.Reveal(), cfg.Auth.JWT.Secret.Reveal(), cfg.Model.APIKey.Reveal(),
		cfg.Approvals.Notify.Secret.Reveal(),
	}
	secrets = append(secrets, storeSecrets(cfg.Store)...)
	for _, secret := range cfg.Plugins.Secrets {
		secrets = append(secrets, secret.Value.Reveal())
	}
	for _, server := range cfg.MCP.Servers {
		for _, value := range server.Headers {
			_, bare, _ := strings.Cut(value.Reveal(), " ") // of "Bearer …"
			secrets = append(secrets, value.Reveal(), bare)
		}
		for variable := range server.EnvFrom {
			secrets = append(secrets, server.Environment[variable].Reveal())
		}
	}
	return append(secrets, evidenceSecrets(cfg.Harness.Chat.Evidence)...)
}

// maskOf takes every configured secret out of what leaves by another way than a face.
func maskOf(cfg Config) web.Mask {
	return web.NewMask(append(secretsOf(cfg), cfg.Auth.ServiceToken.Reveal()))
}
