package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Step n of the schema is the n-th file. A released step never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// errForeign reports a database that is no ledger.
var errForeign = errors.New("the file holds another program's database")

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
	for ; version < len(files); version++ {
		if err := step(ctx, db, files[version], version+1, now); err != nil {
			return fmt.Errorf("bring schema to version %d: %w", version+1, err)
		}
	}
	return nil
}

// behind is a schema that is older than the program's.
type behind struct{ found, known int }

// Error says which versions they are, and what to do.
func (b behind) Error() string {
	return fmt.Sprintf("its schema is version %d, this program needs %d: run `fastreact migrate`, or set store.auto_migrate to true",
		b.found, b.known)
}

// Is reports whether it is asked for as ErrBehind.
func (b behind) Is(target error) bool { return target == ErrBehind }

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
	if path, err = locate(path); err == nil {
		schema.Found, err = versionOf(ctx, path)
	}
	if err != nil {
		err = fmt.Errorf("look at ledger %s: %w", path, advised(err))
	}
	return schema, err
}

// versionOf returns the version of the schema in a file that exists.
func versionOf(ctx context.Context, path string) (int, error) {
	db, err := sql.Open(driverName, address(path, copying))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return schemaVersion(ctx, db)
}

// examine refuses a file that this program must leave as it is: another program's, a newer ledger, and an older or a
// missing one whose schema is to be kept.
func examine(ctx context.Context, path string, keep bool) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	version := 0
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return fmt.Errorf("not a regular file: %s", info.Mode().Type())
	default:
		if version, err = versionOf(ctx, path); err != nil {
			return err
		}
	}
	switch {
	case version > len(files):
		return fmt.Errorf("its schema is version %d, this program knows %d: use a newer program", version, len(files))
	case version < len(files) && keep:
		return behind{version, len(files)}
	}
	return nil
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
		return 0, errForeign
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
