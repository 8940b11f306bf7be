package postgres

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What a server is asked to bound. It ends what takes longer, so that no process, and no cut network, holds rows for
// ever.
const (
	statementTime = 30 * time.Second // one statement
	lockTime      = 5 * time.Second  // the wait for one lock
	idleTime      = 2 * time.Second  // a transaction between two statements: its process stands still
)

// What this side waits for a server that says nothing.
const (
	dialTime  = 5 * time.Second        // one try to connect
	writeTime = 10 * time.Second       // one try of a write
	readTime  = 35 * time.Second       // one read
	fateTime  = 10 * time.Second       // finding out what became of a write
	graceTime = 5 * time.Second        // a write under way, after its caller left
	dialPause = 200 * time.Millisecond // between two tries to connect while a ledger is opened
	keepAlive = 5 * time.Second        // between two signs of life on a connection where nothing happens
)

// parse reads the DSN. Whatever the driver does not set is the operator's, such as encryption and search_path.
func (cfg Config) parse() (*pgxpool.Config, error) {
	settings, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, &Trouble{Says: "the DSN cannot be read", cause: ErrDSN} // the error quotes it
	}
	settings.MaxConns = int32(cfg.MaxConnections - 1) // one more listens
	settings.MinConns = 0
	settings.MaxConnLifetimeJitter = time.Minute
	conn := settings.ConnConfig
	conn.ConnectTimeout = min(dialTime, cfg.ConnectTimeout)
	conn.DialFunc = (&net.Dialer{KeepAlive: keepAlive, Timeout: conn.ConnectTimeout}).DialContext
	for name, value := range map[string]string{
		"application_name":                    "fastreact",
		"statement_timeout":                   millis(statementTime),
		"lock_timeout":                        millis(lockTime),
		"idle_in_transaction_session_timeout": millis(idleTime),
	} {
		if _, ours := conn.RuntimeParams[name]; !ours {
			conn.RuntimeParams[name] = value
		}
	}
	settings.AfterConnect = demandSync
	return settings, nil
}

// Check reports whether a DSN can be read, with a *Trouble that does not quote it.
func Check(dsn string) error {
	_, err := Config{DSN: dsn}.complete().parse()
	return err
}

// Password returns the password that stands in a DSN, for whoever keeps it out of logs.
func Password(dsn string) string {
	settings, err := pgx.ParseConfig(dsn)
	if dsn == "" || err != nil {
		return ""
	}
	return settings.Password
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// demandSync makes commits wait for the disk where the server's settings say that they do not.
func demandSync(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// await connects to a server, also to one that starts meanwhile.
func await(ctx context.Context, patience time.Duration, settings *pgx.ConnConfig) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := pgx.ConnectConfig(ctx, settings.Copy())
		if err == nil {
			return conn, nil
		}
		if !unreachable(err) {
			return nil, err
		}
		pause := time.NewTimer(dialPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		}
	}
}

// usable refuses servers on which a ledger could not keep its promises.
func usable(ctx context.Context, conn *pgx.Conn) error {
	var (
		readOnly, encoding string
		number             int
		schema             *string
	)
	err := conn.QueryRow(ctx, `SELECT current_setting('transaction_read_only'), current_setting('server_encoding'),
		CAST(current_setting('server_version_num') AS INTEGER), current_schema()`).Scan(&readOnly, &encoding, &number, &schema)
	switch {
	case err != nil:
		return err
	case number < oldestServer:
		return &Trouble{Says: "the server is PostgreSQL " + version(conn) + ", 13 or newer is needed", cause: ErrUnusable}
	case readOnly == "on":
		return &Trouble{Says: ErrReadOnly.Error() + unlock, cause: ErrReadOnly}
	case encoding != "UTF8":
		return &Trouble{Says: "the database's encoding is " + encoding + ", UTF8 is needed", cause: ErrUnusable}
	case schema == nil:
		return &Trouble{Says: "no schema of the search_path exists and is open to the account; correct the DSN or the account's rights", cause: ErrUnusable}
	}
	return nil
}

// oldestServer tells what became of a transaction, which older ones do in other words.
const oldestServer = 130000

// acquire takes a connection of the pool.
func (s *store) acquire(ctx context.Context) (*pgxpool.Conn, error) { return s.pool.Acquire(ctx) }
