// Package sqlite keeps the ledger in one SQLite file. It promises that whatever it acknowledged is on disk before
// anyone hears of it, and that no second process opens the same file. One goroutine owns the only connection that
// writes; it commits what waits together and answers after the commit. Readers have a pool of their own and never
// wait for it.
//
// One process owns the file, so every incarnation but the one that asks is gone.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
)

// Config says where a ledger is.
type Config struct {
	Path  string           // of the database file; missing folders are made, for the owner only
	Clock func() time.Time // nil: the wall clock at Open plus monotonic time, so that a stepped clock moves nothing
	Log   *slog.Logger     // nil: nothing is logged

	Outbox bool // whether approvals are told outside: a notice is committed with each
}

// Ledger is an open ledger. Its methods may be called from many goroutines.
type Ledger struct {
	path    string
	clock   func() time.Time
	log     *slog.Logger
	lock    *os.File
	readers *sql.DB
	writer  *writer
	notices *notices
	closed  atomic.Bool
	outbox  bool
}

var _ ledger.Ledger = (*Ledger)(nil)

// Open opens the ledger at cfg.Path, or makes a new one, and brings its schema up to date. It fails when another
// process has it open and when a newer program wrote it.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	path, err := locate(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", cfg.Path, err)
	}
	lock, err := acquire(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", cfg.Path, err)
	}
	l := &Ledger{path: path, clock: cfg.Clock, log: cfg.Log, lock: lock, notices: newNotices(), outbox: cfg.Outbox}
	if l.clock == nil {
		l.clock = steady(time.Now())
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if err := l.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", cfg.Path, err), lock.Close())
	}
	return l, nil
}

// start makes the file, opens its connections and starts the writer.
func (l *Ledger) start(ctx context.Context) error {
	if err := create(l.path); err != nil {
		return err
	}
	writing, err := sql.Open(driverName, address(l.path, writing))
	if err != nil {
		return err
	}
	writing.SetMaxOpenConns(1)
	if err := migrate(ctx, writing, micros(l.clock())); err != nil {
		return errors.Join(err, writing.Close())
	}
	l.readers, err = sql.Open(driverName, address(l.path, reading))
	if err != nil {
		return errors.Join(err, writing.Close())
	}
	l.readers.SetMaxOpenConns(readerCount)
	l.readers.SetMaxIdleConns(readerCount)
	l.writer = newWriter(writing, l.clock, l.notices, l.log)
	l.writer.outbox = l.outbox
	go l.writer.loop()
	return nil
}

// Close waits until everything that was accepted is committed. Watchers are told once more, so that whoever waits
// reads again and gets ErrClosed, as every later call does.
func (l *Ledger) Close() error {
	if l.closed.Swap(true) {
		return closedError("close ledger")
	}
	err := errors.Join(l.readers.Close(), l.writer.close(), l.lock.Close())
	l.notices.tellAll()
	if err != nil {
		return fmt.Errorf("close ledger %s: %w", l.path, err)
	}
	return nil
}

// Wake returns the channel on which the one dispatcher hears of work and cancels.
func (l *Ledger) Wake() <-chan struct{} { return l.notices.wake }
