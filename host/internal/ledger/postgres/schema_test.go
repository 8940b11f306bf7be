package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
)

// bare returns the DSN of a database in which there is nothing, and its name.
func bare(t *testing.T) (dsn, name string) {
	t.Helper()
	h := need(t)
	name, err := h.server.Database("")
	if err != nil {
		t.Fatal(err)
	}
	return h.server.SocketDSN(name), name
}

func sql(t *testing.T, database, statements string) string {
	t.Helper()
	answer, err := need(t).server.SQL(database, statements)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// refusal opens a ledger that must not open.
func refusal(t *testing.T, cfg postgres.Config) error {
	t.Helper()
	l, err := postgres.Open(t.Context(), cfg)
	if err == nil {
		_ = l.Close()
		t.Fatal("it was opened")
	}
	var trouble *postgres.Trouble
	if !errors.As(err, &trouble) {
		t.Errorf("the error is a %T", err)
	}
	return err
}

func demand(t *testing.T, err, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

func TestEightProcessesThatStartAtOnceMakeTheSchemaOnce(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := postgres.Migrate(t.Context(), postgres.Config{DSN: dsn}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if versions := sql(t, name, "SELECT string_agg(version::text, ',' ORDER BY version) FROM migrations"); versions != "1,2" {
		t.Errorf("steps %s", versions)
	}
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	if _, err := postgres.Migrate(t.Context(), postgres.Config{DSN: dsn}); err != nil {
		t.Fatal(err)
	}
	sql(t, name, "INSERT INTO migrations VALUES (99, 0)")
	demand(t, refusal(t, postgres.Config{DSN: dsn, AutoMigrate: true}), postgres.ErrNewer, "version 99", "newer program")
	if _, err := postgres.Migrate(t.Context(), postgres.Config{DSN: dsn}); !errors.Is(err, postgres.ErrNewer) {
		t.Errorf("migrate: %v", err)
	}
}

func TestOlderSchemaIsLeftToTheOperatorWhoAskedForThat(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	demand(t, refusal(t, postgres.Config{DSN: dsn}), postgres.ErrBehind, "version 0", "fastreact migrate")
	if tables := sql(t, name, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); tables != "0" {
		t.Errorf("%s tables were made", tables)
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]string{
		"other tables":     "CREATE TABLE customers (id int)",
		"other migrations": "CREATE TABLE migrations (version bigint, applied_at bigint)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, database := bare(t)
			sql(t, database, table)
			demand(t, refusal(t, postgres.Config{DSN: dsn, AutoMigrate: true}), postgres.ErrForeign, "another program")
		})
	}
}

func TestDatabaseThatCannotBeUsedIsNamedWithoutThePassword(t *testing.T) {
	t.Parallel()
	_, name := bare(t)
	server := need(t).server
	sql(t, name, "ALTER DATABASE "+name+" SET default_transaction_read_only = on; CREATE ROLE stranger NOLOGIN")
	with := func(user, addr, database string) string {
		return "postgres://" + user + ":canary-pass@" + addr + "/" + database + "?sslmode=disable"
	}
	for fact, c := range map[string]struct {
		dsn  string
		want error
		says string
	}{
		"read-only":   {with("fastreact", server.Addr, name), postgres.ErrReadOnly, "read-only"},
		"no database": {with("fastreact", server.Addr, "nowhere"), postgres.ErrNoDatabase, `"nowhere"`},
		"no account":  {with("stranger", server.Addr, name), postgres.ErrCredentials, "account"},
		"no server":   {with("fastreact", "127.0.0.1:1", name), postgres.ErrUnreachable, "refused"},
		"no host":     {with("fastreact", "nowhere.invalid", name), postgres.ErrUnreachable, "nowhere.invalid"},
		"no schema":   {with("fastreact", server.Addr, "postgres") + "&search_path=nowhere", postgres.ErrUnusable, "search_path"},
		"no DSN":      {"postgres://u:canary-pass@:x:y/%zz", postgres.ErrDSN, "DSN"},
		"no mode":     {with("fastreact", server.Addr, name) + "&sslmode=maybe", postgres.ErrDSN, "DSN"},
		"no TLS":      {strings.Replace(with("fastreact", server.Addr, name), "disable", "require", 1), postgres.ErrUnreachable, "encryption"},
	} {
		t.Run(fact, func(t *testing.T) {
			t.Parallel() // who cannot be reached is waited for so long that a busy machine has time to say why
			err := refusal(t, postgres.Config{DSN: c.dsn, AutoMigrate: true, ConnectTimeout: 3 * time.Second})
			demand(t, err, c.want, c.says)
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("it shows the password: %v", err)
			}
		})
	}
}

func TestResearchIsNeverChangedAndNeverRemoved(t *testing.T) {
	t.Parallel()
	dsn, name := bare(t)
	if _, err := postgres.Migrate(t.Context(), postgres.Config{DSN: dsn}); err != nil {
		t.Fatal(err)
	}
	sql(t, name, "INSERT INTO research (workspace, kind, at, key, digest, body) VALUES ('w', 'plan', 0, '', '', '')")
	for _, change := range []string{"UPDATE research SET at = 1", "DELETE FROM research", "TRUNCATE research"} {
		if _, err := need(t).server.SQL(name, change); err == nil {
			t.Errorf("%s: done", change)
		}
	}
}
