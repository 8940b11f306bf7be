package host

import (
	"context"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/notify"
)

// newMessenger returns who tells of approvals, nil when nobody is to be told.
func newMessenger(cfg Config, outbox notify.Outbox, log *slog.Logger) *notify.Messenger {
	told := cfg.Approvals.Notify
	if told.WebhookURL == "" {
		return nil
	}
	return notify.New(notify.Config{
		Outbox: outbox, URL: told.WebhookURL, Secret: told.Secret.Reveal(), Mask: maskOf(cfg),
		Timeout: told.Timeout, MaxAttempts: told.MaxAttempts, Log: log,
	})
}

// tellPeople delivers notices until ctx ends, one process at a time.
func (s *Server) tellPeople(ctx context.Context) {
	if messenger := newMessenger(s.options.Config, s.ledger, s.options.Log); messenger != nil {
		s.duties.Keep(ctx, "notify", messenger.Run)
	}
}

// examineNotify asks the webhook to take a signed message about nothing.
func examineNotify(ctx context.Context, options Options) []Finding {
	messenger := newMessenger(options.Config, nil, options.Log)
	if messenger == nil {
		return []Finding{{
			"notifications", Degrade, "nobody is told when a call waits for a person",
			"set approvals.notify, or keep `fastreact approvals watch` running",
		}}
	}
	if err := messenger.Ping(ctx); err != nil {
		return []Finding{{
			"notifications", Broken, err.Error(), "check approvals.notify.webhook_url, its secret and the network",
		}}
	}
	return []Finding{{Part: "notifications", Health: Works, Says: "the webhook took a signed ping"}}
}
