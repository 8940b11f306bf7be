package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Sentence says in public what is wrong with the store.
func (s *store) Sentence(err error) string {
	switch primary(err) {
	case sqlite3.SQLITE_FULL:
		return "The storage of the service is full. Try again later."
	case sqlite3.SQLITE_READONLY:
		return "The storage of the service cannot be written to. Try again later."
	}
	return "The storage of the service is not available. Try again later."
}

// ErrBehind reports that the schema is older than the program, and that it was to be kept.
var ErrBehind = errors.New("the schema is older than the program")

// advised adds to an error of Open what the operator can do about it.
func advised(err error) error {
	remedy := ""
	switch code := primary(err); {
	case code == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC):
		remedy = "make room on its disk"
	case code == sqlite3.SQLITE_READONLY, code == sqlite3.SQLITE_CANTOPEN, errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		remedy = "the service must be able to write to the file and to its folder"
	case code == sqlite3.SQLITE_BUSY, code == sqlite3.SQLITE_LOCKED:
		remedy = "another program works on the file: end it"
	case code == sqlite3.SQLITE_NOTADB, errors.Is(err, errForeign), errors.Is(err, syscall.EISDIR):
		remedy = "name another file"
	case code == sqlite3.SQLITE_CORRUPT:
		remedy = "it is damaged: go back to a backup"
	}
	if remedy == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, remedy)
}

// primary returns SQLite's primary result code, 0 for other errors.
func primary(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// Taken reports whether err says that a unique key exists already.
func (s *store) Taken(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) &&
		(e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
