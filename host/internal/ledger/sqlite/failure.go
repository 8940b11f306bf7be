package sqlite

import (
	"errors"

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
