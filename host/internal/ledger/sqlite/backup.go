package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrTargetExists reports that a backup would overwrite a file.
var ErrTargetExists = errors.New("the file exists already; a backup overwrites nothing")

// Copy says what a backup holds.
type Copy struct {
	Path   string // absolute
	Bytes  int64
	Runs   int
	Events int
}

// Backup writes the ledger at path into a new file as it is at one moment, whether a process has it open or not: it
// holds everything that was committed before, and writers do not wait for it. The copy is one file without a log of
// its own, checked whole and on disk before it gets its name. On failure nothing is left at target.
func Backup(ctx context.Context, path, target string) (Copy, error) {
	made, err := backup(ctx, path, target)
	if err != nil {
		return Copy{}, fmt.Errorf("back up ledger %s to %s: %w", path, target, err)
	}
	return made, nil
}

func backup(ctx context.Context, path, target string) (Copy, error) {
	if _, err := os.Stat(path); err != nil { // SQLite would make an empty file
		return Copy{}, err
	}
	source, err := locate(path)
	if err != nil {
		return Copy{}, err
	}
	if target, err = filepath.Abs(target); err != nil {
		return Copy{}, err
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return Copy{}, errors.Join(err, ErrTargetExists)
	}
	folder, err := os.MkdirTemp(filepath.Dir(target), ".backup-") // nobody else may read what is written there
	if err != nil {
		return Copy{}, err
	}
	defer os.RemoveAll(folder)
	draft := filepath.Join(folder, "ledger.db")
	if err := vacuumInto(ctx, source, draft); err != nil {
		return Copy{}, err
	}
	made, err := inspect(ctx, draft)
	if err != nil {
		return Copy{}, err
	}
	made.Path = target
	return made, settle(draft, target)
}

// vacuumInto reads the ledger in one transaction.
func vacuumInto(ctx context.Context, source, draft string) error {
	db, err := sql.Open(driverName, address(source, copying))
	if err != nil {
		return err
	}
	defer db.Close()
	if version, err := schemaVersion(ctx, db); err != nil || version == 0 {
		return errors.Join(err, errors.New("the file holds no ledger"))
	}
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, draft)
	return err
}

// inspect checks a copy whole and counts what it holds.
func inspect(ctx context.Context, draft string) (Copy, error) {
	db, err := sql.Open(driverName, address(draft, reading))
	if err != nil {
		return Copy{}, err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return Copy{}, err
	}
	if verdict != "ok" {
		return Copy{}, fmt.Errorf("the copy is damaged: %s", verdict)
	}
	info, err := os.Stat(draft)
	if err != nil {
		return Copy{}, err
	}
	made := Copy{Bytes: info.Size()}
	err = db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM runs), (SELECT COUNT(*) FROM events)`).
		Scan(&made.Runs, &made.Events)
	return made, err
}

// settle brings a copy to disk and then gives it its name.
func settle(draft, target string) error {
	file, err := os.OpenFile(draft, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(onlyOwner(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(draft, target); err != nil { // unlike a rename, it never replaces a file
		return err
	}
	return syncFolder(filepath.Dir(target))
}
