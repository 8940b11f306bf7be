package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// Step n of the schema is the n-th file. A released step never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the version of a database's schema and of the newest that this program knows. 0 is an empty database.
type Schema struct {
	Found, Known int
}

// current refuses a schema that is not the program's.
func (s Schema) current() error {
	switch {
	case s.Found > s.Known:
		return &Trouble{
			Says:  fmt.Sprintf("its schema is version %d, this program knows %d: use a newer program", s.Found, s.Known),
			cause: ErrNewer,
		}
	case s.Found < s.Known:
		return &Trouble{
			Says: fmt.Sprintf("its schema is version %d, this program needs %d: run `fastreact migrate`, or set store.auto_migrate to true",
				s.Found, s.Known),
			cause: ErrBehind,
		}
	}
	return nil
}

// Look returns the version of the schema in the database that cfg names, and changes nothing.
func Look(ctx context.Context, cfg Config) (Schema, error) { return visit(ctx, cfg, schemaOf) }

// Migrate brings the schema up to date, or makes it, and returns what it was before. It fails when a newer program
// wrote it.
func Migrate(ctx context.Context, cfg Config) (before Schema, err error) {
	return visit(ctx, cfg, migrate)
}

// visit does something on a connection of its own.
func visit(ctx context.Context, cfg Config, do func(context.Context, *pgx.Conn) (Schema, error)) (Schema, error) {
	cfg = cfg.complete()
	settings, err := cfg.parse()
	if err != nil {
		return Schema{}, err
	}
	conn, err := await(ctx, cfg.ConnectTimeout, settings.ConnConfig)
	if err != nil {
		return Schema{}, trouble(settings.ConnConfig, err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is under way
	if err := usable(ctx, conn); err != nil {
		return Schema{}, trouble(settings.ConnConfig, err)
	}
	found, err := do(ctx, conn)
	if err != nil {
		return found, trouble(settings.ConnConfig, err)
	}
	return found, nil
}

// ours is what the table of migrations says of itself, so that another program's is not taken for it.
const ours = "fastreact"

// tables counts the tables in the schema where ours are or would be, without those of extensions.
const tables = `
	SELECT COUNT(*), COUNT(*) FILTER (WHERE c.relname = 'migrations' AND obj_description(c.oid, 'pg_class') = '` + ours + `')
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT EXISTS (
		SELECT 1 FROM pg_depend d
		WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e')`

// schemaOf returns the version of the schema in the database.
func schemaOf(ctx context.Context, conn *pgx.Conn) (Schema, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return Schema{}, err
	}
	schema := Schema{Known: len(files)}
	var all, own int
	err = conn.QueryRow(ctx, tables).Scan(&all, &own)
	switch {
	case err != nil:
		return schema, err
	case all == 0:
		return schema, nil
	case own == 0:
		return schema, &Trouble{Says: ErrForeign.Error() + "; give this one a database of its own", cause: ErrForeign}
	}
	err = conn.QueryRow(ctx, `SELECT COALESCE(MAX(version), 0) FROM migrations`).Scan(&schema.Found)
	return schema, err
}

// migrationLock is the advisory lock of whoever changes the schema of a database.
const (
	migrationLock   = `SELECT pg_advisory_lock(` + migrationName + `)`
	migrationUnlock = `SELECT pg_advisory_unlock(` + migrationName + `)`
	migrationName   = `hashtextextended('fastreact migrations ' || current_schema(), 0)`
)

// migrate brings the schema up to date, each step in a transaction of its own. Of processes that start at once one does
// it, and the others wait. Nothing
// ends the waits of the connection afterwards.
func migrate(ctx context.Context, conn *pgx.Conn) (before Schema, err error) {
	before, err = schemaOf(ctx, conn)
	if err != nil || before.Found == before.Known {
		return before, err
	}
	if before.Found > before.Known {
		return before, before.current()
	}
	for _, setting := range []string{`SET statement_timeout = 0`, `SET lock_timeout = 0`, migrationLock} {
		if _, err := conn.Exec(ctx, setting); err != nil {
			return before, err
		}
	}
	defer conn.Exec(context.WithoutCancel(ctx), migrationUnlock) //nolint:errcheck // it goes with the connection
	schema, err := schemaOf(ctx, conn)
	for err == nil && schema.Found < schema.Known {
		schema.Found++
		err = step(ctx, conn, schema.Found)
	}
	return before, err
}

// step brings the schema to a version.
func step(ctx context.Context, conn *pgx.Conn, version int) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	script, err := migrations.ReadFile(files[version-1])
	if err != nil {
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit there is nothing to roll back
	for _, part := range []string{
		`CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL);
		COMMENT ON TABLE migrations IS '` + ours + `'`,
		string(script),
		fmt.Sprintf(`INSERT INTO migrations VALUES (%d, %s)`, version, now),
	} {
		if _, err := conn.PgConn().Exec(ctx, part).ReadAll(); err != nil {
			return fmt.Errorf("bring schema to version %d: %w", version, err)
		}
	}
	return tx.Commit(ctx)
}
