package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver registers itself under driverName
)

const (
	driverName  = "sqlite"
	readerCount = 8
)

// ErrInUse reports that another process has the ledger open.
var ErrInUse = errors.New("another process has this ledger open: end it, or use PostgreSQL, which several processes share")

// locate makes the folder and returns the file's one true path: two names of one file must not get two locks.
func locate(path string) (string, error) {
	if path == "" {
		return "", errors.New("path is empty")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := makeFolder(filepath.Dir(absolute)); err != nil {
		return "", err
	}
	located, err := filepath.EvalSymlinks(absolute)
	if !errors.Is(err, fs.ErrNotExist) {
		return located, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	return filepath.Join(folder, filepath.Base(absolute)), err
}

// create makes the file, for the owner only. It comes after the lock: closing a file that SQLite has open in this
// process would end SQLite's own locks.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(onlyOwner(file), file.Close(), syncFolder(filepath.Dir(path)))
}

// makeFolder makes a missing folder, so that it survives a power cut.
func makeFolder(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// onlyOwner takes the rights of everybody else away.
func onlyOwner(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file: %s", info.Mode().Type())
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return file.Chmod(info.Mode().Perm() &^ fs.FileMode(0o077))
}

// use says what a connection is for.
type use int

const (
	reading use = iota
	writing
	copying // reads the ledger of a process that may be running
)

// address is the data source name of the file.
func address(path string, u use) string {
	pragmas := []string{"busy_timeout(5000)", "foreign_keys(1)"}
	switch u {
	case writing:
		pragmas = append(
			pragmas, "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(8000)",
			"journal_size_limit(67108864)",
		)
	case reading:
		pragmas = append(pragmas, "query_only(1)")
	}
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	name := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return name.String()
}
