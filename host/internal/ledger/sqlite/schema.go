package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Step n of the schema is the n-th file. A released step never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date, each step in a transaction of its own.
func migrate(ctx context.Context, db *sql.DB, now int64) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("its schema is version %d, this program knows %d: use a newer program", version, len(files))
	}
	for ; version < len(files); version++ {
		if err := step(ctx, db, files[version], version+1, now); err != nil {
			return fmt.Errorf("bring schema to version %d: %w", version+1, err)
		}
	}
	return nil
}

// Schema is the version of a file's schema and of the newest that this program knows. 0 is an empty or missing file.
type Schema struct {
	Found, Known int
}

// Look returns the version of the schema in the file at path, whether a process has it open or not, and changes
// nothing.
func Look(ctx context.Context, path string) (Schema, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return Schema{}, err
	}
	schema := Schema{Known: len(files)}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return schema, nil
	}
	if path, err = locate(path); err != nil {
		return schema, fmt.Errorf("look at ledger %s: %w", path, err)
	}
	db, err := sql.Open(driverName, address(path, copying))
	if err != nil {
		return schema, fmt.Errorf("look at ledger %s: %w", path, err)
	}
	defer db.Close()
	if schema.Found, err = schemaVersion(ctx, db); err != nil {
		err = fmt.Errorf("look at ledger %s: %w", path, err)
	}
	return schema, err
}

// schemaVersion returns the version of the schema in the file, 0 for an empty one.
func schemaVersion(ctx context.Context, db *sql.DB) (int, error) {
	var tables, own int
	err := db.QueryRowContext(ctx, `
		SELECT COUNT(*), COALESCE(SUM(name = 'migrations'), 0) FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&tables, &own)
	switch {
	case err != nil:
		return 0, err
	case tables == 0:
		return 0, nil
	case own == 0:
		return 0, errors.New("the file holds another program's database")
	}
	var version int
	err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM migrations`).Scan(&version)
	return version, err
}

func step(ctx context.Context, db *sql.DB, file string, version int, now int64) error {
	script, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT`,
		string(script),
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?)`, version, now); err != nil {
		return err
	}
	return tx.Commit()
}
