// Package postgres keeps the ledger in a PostgreSQL database that several processes share. It promises that whatever it
// acknowledged is committed, that a write whose answer was lost is never done twice, and that every process hears of
// what another one changed, at the latest when it looks.
//
// The time is the database's, so that the clocks of the hosts decide nothing. The statements are those of the
// relational ledger; making the database and copying it are left to PostgreSQL's own tools.
package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/relational"
)

// Config says where a ledger is, and how it is reached.
type Config struct {
	DSN            string        // URL or keywords; it may hold a password and is never shown
	MaxConnections int           // of this process, at least 3; 0 is 16
	ConnectTimeout time.Duration // how long Open waits for a server that is not there yet; 0 is 10 s
	AutoMigrate    bool          // whether Open brings an older schema up to date; else it refuses one

	Clock  func() time.Time // nil: the database's. For tests
	Log    *slog.Logger     // nil: nothing is logged
	Outbox bool             // whether approvals are told outside: a notice is committed with each

	silence time.Duration // after which the listener asks whether the server is still there; 0 is 10 s
}

const (
	defaultConnections = 16
	fewestConnections  = 3 // one that listens, one that reads, one that writes and tells
	forWrites          = 2 // connections that reads leave, where there are more
	defaultPatience    = 10 * time.Second
	defaultSilence     = 10 * time.Second
)

// Ledger is an open ledger. Its methods may be called from many goroutines.
type Ledger struct {
	*relational.Ledger
}

var _ ledger.Ledger = (*Ledger)(nil)

// store is the database and the connections to it.
type store struct {
	pool    *pgxpool.Pool
	clock   func() time.Time // nil: the database's
	log     *slog.Logger
	notices *relational.Notices
	crier   *crier
	lent    bool // the pool outlives the store: a test's
	stop    context.CancelFunc
	ended   chan struct{} // closed when nobody listens any more
	reads   chan struct{} // places of reads

	mu      sync.Mutex
	closed  bool
	working sync.WaitGroup // reads and writes that were let in
}

var _ relational.Driver = (*store)(nil)

// Open opens the ledger in the database that cfg names, and makes it there when the database is empty. It waits for
// a server that cannot be reached, but not longer than cfg.ConnectTimeout. It fails when the database cannot be
// written to, holds something else or was written by a newer program. Its errors are *Trouble.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	cfg = cfg.complete()
	settings, err := cfg.parse()
	if err != nil {
		return nil, err
	}
	conn, err := prepare(ctx, cfg, settings.ConnConfig)
	if err != nil {
		return nil, trouble(settings.ConnConfig, err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		_ = conn.Close(ctx)
		return nil, trouble(settings.ConnConfig, err)
	}
	s := &store{pool: pool}
	return s.open(ctx, cfg, conn, settings.ConnConfig), nil
}

// open starts the store on its pool; conn is to listen. One that takes its place is opened with the settings: those of
// an open connection hand what it hears to that one.
func (s *store) open(ctx context.Context, cfg Config, conn *pgx.Conn, settings *pgx.ConnConfig) *Ledger {
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.clock, s.log, s.notices = cfg.Clock, cfg.Log, relational.NewNotices()
	s.stop, s.ended, s.crier = stop, make(chan struct{}), newCrier(s.pool, cfg.Log)
	s.reads = make(chan struct{}, max(1, s.pool.Config().MaxConns-forWrites))
	go s.crier.loop()
	ears := &listener{config: settings, silence: cfg.silence, self: s.crier.self, notices: s.notices, log: cfg.Log}
	ready := make(chan struct{})
	go func() {
		defer close(s.ended)
		ears.loop(listening, conn, ready)
	}()
	select {
	case <-ready:
	case <-ctx.Done():
	}
	return &Ledger{relational.New(relational.Config{
		Driver: s, Notices: s.notices, Outbox: cfg.Outbox, Dialect: relational.Dialect{
			Lock:   ` FOR UPDATE`,
			Skip:   ` FOR UPDATE SKIP LOCKED`,
			Guard:  `SELECT pg_advisory_xact_lock(hashtextextended(?1, 0))`,
			Freeze: `LOCK TABLE audits IN SHARE MODE`,
		},
	})}
}

func (cfg Config) complete() Config {
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = defaultConnections
	}
	cfg.MaxConnections = max(cfg.MaxConnections, fewestConnections)
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = defaultPatience
	}
	if cfg.silence == 0 {
		cfg.silence = defaultSilence
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// prepare waits for the server, looks whether the database may be used, and returns the connection.
func prepare(ctx context.Context, cfg Config, settings *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := await(ctx, cfg.ConnectTimeout, settings)
	if err != nil {
		return nil, err
	}
	if err := fit(ctx, cfg, conn); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return conn, nil
}

// fit makes sure that there is a ledger of this program's version.
func fit(ctx context.Context, cfg Config, conn *pgx.Conn) error {
	if err := usable(ctx, conn); err != nil {
		return err
	}
	if cfg.AutoMigrate {
		_, err := migrate(ctx, conn)
		return err
	}
	schema, err := schemaOf(ctx, conn)
	if err != nil {
		return err
	}
	return schema.current()
}

// in lets one read or write in, unless the store is closed.
func (s *store) in() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.working.Add(1)
	return true
}

// Close waits for what was let in, and for those who listen and tell.
func (s *store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.working.Wait()
	s.stop()
	<-s.ended
	s.crier.close()
	if !s.lent {
		s.pool.Close()
	}
	return nil
}

// now is the database's time in microseconds since 1970.
const now = `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`

func micros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func version(conn *pgx.Conn) string {
	return fmt.Sprint(conn.PgConn().ParameterStatus("server_version"))
}
