// Package sqlite keeps the ledger in one SQLite file. It promises that whatever it acknowledged is on disk before
// anyone hears of it, and that no second process opens the same file. One goroutine owns the only connection that
// writes; it commits what waits together and answers after the commit. Readers have a pool of their own and never
// wait for it.
//
// One process owns the file, so every incarnation but the one that asks is gone. The statements are those of the
// relational ledger.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/fastreact/fastreact/host/internal/failpoint"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// Config says where a ledger is.
type Config struct {
	Path  string           // of the database file; missing folders are made, for the owner only
	Clock func() time.Time // nil: the wall clock at Open plus monotonic time, so that a stepped clock moves nothing
	Log   *slog.Logger     // nil: nothing is logged

	KeepSchema bool // whether Open refuses an older schema, and an empty file; else it brings it up to date

	Outbox bool // whether approvals are told outside: a notice is committed with each
}

// Ledger is an open ledger. Its methods may be called from many goroutines.
type Ledger struct {
	*relational.Ledger
	store *store
}

var _ ledger.Ledger = (*Ledger)(nil)

// store is the file and its connections.
type store struct {
	path    string
	clock   func() time.Time
	log     *slog.Logger
	lock    *os.File
	readers *sql.DB
	writer  *writer
}

var _ relational.Driver = (*store)(nil)

// Open opens the ledger at cfg.Path, or makes a new one, and brings its schema up to date. It fails when another
// process has it open and when a newer program wrote it, and says what to do then.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	path, err := locate(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", cfg.Path, advised(err))
	}
	lock, err := acquire(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", cfg.Path, advised(err))
	}
	s := &store{path: path, clock: cfg.Clock, log: cfg.Log, lock: lock}
	if s.clock == nil {
		s.clock = steady(failpoint.Now())
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	notices := relational.NewNotices()
	if err := s.start(ctx, notices, cfg.KeepSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", cfg.Path, advised(err)), lock.Close())
	}
	shared := relational.New(relational.Config{Driver: s, Notices: notices, Outbox: cfg.Outbox})
	return &Ledger{Ledger: shared, store: s}, nil
}

// start makes the file, opens its connections and starts the writer.
func (s *store) start(ctx context.Context, notices *relational.Notices, keepSchema bool) error {
	if err := examine(ctx, s.path, keepSchema); err != nil {
		return err
	}
	if err := create(s.path); err != nil {
		return err
	}
	writing, err := sql.Open(driverName, address(s.path, writing))
	if err != nil {
		return err
	}
	writing.SetMaxOpenConns(1)
	if err := migrate(ctx, writing, s.clock().UnixMicro()); err != nil {
		return errors.Join(err, writing.Close())
	}
	if err := inherit(ctx, writing, s.clock().UnixMicro()); err != nil {
		return errors.Join(err, writing.Close())
	}
	s.readers, err = sql.Open(driverName, address(s.path, reading))
	if err != nil {
		return errors.Join(err, writing.Close())
	}
	s.readers.SetMaxOpenConns(readerCount)
	s.readers.SetMaxIdleConns(readerCount)
	s.writer = newWriter(writing, s.clock, notices, s.log)
	go s.writer.loop()
	return nil
}

// endLeases leaves of the pause that comes with a claim only what follows its lease.
const endLeases = `
	UPDATE runs SET lease_until = 0, not_before = CASE not_before
		WHEN 0 THEN 0 ELSE ?1 + ` + relational.Pause + ` END
	WHERE owner <> ''`

// inherit ends what the last incarnation had: it is gone, because this one holds the lock.
func inherit(ctx context.Context, writing *sql.DB, now int64) error {
	if _, err := writing.ExecContext(ctx, endLeases, now); err != nil {
		return fmt.Errorf("end leases of the last incarnation: %w", err)
	}
	if _, err := writing.ExecContext(ctx, `DELETE FROM nodes; DELETE FROM duties`); err != nil {
		return fmt.Errorf("forget the last incarnation: %w", err)
	}
	return nil
}

// Write has the writer run change.
func (s *store) Write(ctx context.Context, change relational.Change) error {
	return s.writer.do(ctx, change)
}

// Close waits until everything that was accepted is committed.
func (s *store) Close() error {
	if err := errors.Join(s.readers.Close(), s.writer.close(), s.lock.Close()); err != nil {
		return fmt.Errorf("close ledger %s: %w", s.path, err)
	}
	return nil
}
