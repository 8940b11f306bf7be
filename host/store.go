package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
)

func (s *Server) openLedger(ctx context.Context) (err error) {
	s.ledger, err = openStore(ctx, s.options.Config, s.options.Log)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	s.closers = append(s.closers, s.ledger.Close)
	return nil
}

// openStore opens the store that the configuration names.
func openStore(ctx context.Context, cfg Config, log *slog.Logger) (ledger.Ledger, error) {
	outbox := cfg.Approvals.Notify.WebhookURL != ""
	if cfg.Store.Driver == storePostgres {
		setup := cfg.Store.postgres(log)
		setup.Outbox = outbox
		l, err := postgres.Open(ctx, setup)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	l, err := sqlite.Open(ctx, sqlite.Config{
		Path: cfg.Store.Path, Log: log, Outbox: outbox, KeepSchema: !cfg.Store.AutoMigrate,
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c StoreConfig) postgres(log *slog.Logger) postgres.Config {
	return postgres.Config{
		DSN: c.DSN.Reveal(), MaxConnections: c.MaxConnections, ConnectTimeout: c.ConnectTimeout,
		AutoMigrate: c.AutoMigrate, Log: log,
	}
}

// storeSecrets lists the DSN and the password in it.
func storeSecrets(c StoreConfig) []string {
	dsn := c.DSN.Reveal()
	secrets := []string{dsn}
	if password := postgres.Password(dsn); password != "" {
		secrets = append(secrets, password, url.QueryEscape(password))
	}
	return secrets
}

// Schema is the version of a store's schema, 0 for an empty one, and the one that this program writes.
type Schema struct {
	Driver string `json:"driver"`
	Found  int    `json:"found"`
	Known  int    `json:"known"`
}

// StoreSchema looks at the schema of the configured store and changes nothing.
func StoreSchema(ctx context.Context, cfg Config) (Schema, error) {
	schema := Schema{Driver: cfg.Store.Driver}
	if cfg.Store.Driver == storePostgres {
		found, err := postgres.Look(ctx, cfg.Store.postgres(nil))
		schema.Found, schema.Known = found.Found, found.Known
		return schema, err
	}
	found, err := sqlite.Look(ctx, cfg.Store.Path)
	schema.Found, schema.Known = found.Found, found.Known
	return schema, err
}

// MigrateStore brings the schema of the configured store up to date, makes it in an empty one, and returns what it was
// before. A newer schema is left alone and is an error.
func MigrateStore(ctx context.Context, cfg Config) (Schema, error) {
	before, err := StoreSchema(ctx, cfg)
	switch {
	case err != nil:
		return before, err
	case cfg.Store.Driver == storePostgres:
		_, err = postgres.Migrate(ctx, cfg.Store.postgres(nil))
		return before, err
	}
	l, err := sqlite.Open(ctx, sqlite.Config{Path: cfg.Store.Path})
	if err != nil {
		return before, err
	}
	return before, l.Close()
}

// byItself is what to do about an older schema.
const byItself = "start the service, which brings it up to date, or run `fastreact migrate`"

// examinePostgres looks whether a service could work with the database, and changes nothing.
func examinePostgres(ctx context.Context, options Options) Finding {
	setup := options.Config.Store.postgres(options.Log)
	setup.AutoMigrate = false
	store, err := postgres.Open(ctx, setup)
	if err == nil {
		err = errors.Join(store.Ping(ctx), store.Close())
	}
	switch {
	case errors.Is(err, postgres.ErrBehind) && options.Config.Store.AutoMigrate:
		return Finding{"store", Degrade, err.Error(), byItself}
	case err != nil:
		return Finding{"store", Broken, err.Error(), "check the server, the DSN and the rights of its account"}
	}
	return Finding{Part: "store", Health: Works, Says: "PostgreSQL can be written to"}
}
