package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	mysql "github.com/go-sql-driver/mysql"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/plugins/evidence/readonly"
)

// connections is how many questions one database is asked at a time; more of them wait.
const connections = 4

// database is one server and one account.
type database struct {
	name     string
	config   Config
	strict   bool
	settings *mysql.Config
	slots    chan struct{} // one for each connection
	warned   atomic.Bool   // the log has been told of what the account may do
}

func newDatabase(name string, config Config) (*database, error) {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) {
		return nil, errors.New("a name has 1 to 64 letters, digits, dots, dashes and underscores")
	}
	settings, err := harmless(config.Datasources[name].DSN, config.Timeout)
	if err != nil {
		return nil, err
	}
	return &database{
		name: name, config: config, strict: config.Datasources[name].RequireReadOnly, settings: settings,
		slots: make(chan struct{}, connections),
	}, nil
}

// harmless reads a DSN and keeps who, where and how encrypted. Every other option is ours.
func harmless(dsn string, timeout time.Duration) (*mysql.Config, error) {
	given, err := mysql.ParseDSN(dsn)
	switch {
	case err != nil:
		return nil, errors.New("the DSN cannot be read: write it like user:password@tcp(host:3306)/database")
	case given.Net != "tcp" && given.Net != "unix":
		return nil, errors.New("the DSN names a way that is neither tcp nor unix")
	case strings.EqualFold(given.DBName, "mysql"):
		return nil, errors.New("the DSN names the schema that holds accounts")
	}
	settings := mysql.NewConfig()
	settings.User, settings.Passwd, settings.Net, settings.Addr = given.User, given.Passwd, given.Net, given.Addr
	settings.DBName, settings.TLSConfig, settings.TLS = given.DBName, given.TLSConfig, given.TLS
	settings.ServerPubKey, settings.AllowNativePasswords = given.ServerPubKey, given.AllowNativePasswords
	settings.AllowFallbackToPlaintext = given.AllowFallbackToPlaintext
	settings.Timeout, settings.ReadTimeout, settings.WriteTimeout = min(timeout, 5*time.Second), timeout+grace, timeout+grace
	settings.Logger = quiet{} // the driver's log holds words of the server
	settings.CheckConnLiveness = false
	settings.ConnectionAttributes = "program_name:fastreact"
	if err := settings.Apply(mysql.Charset(readonly.Charset, readonly.Collation)); err != nil {
		return nil, errors.New("the charset cannot be set")
	}
	return settings, nil
}

// grace is how much longer than a statement may take its answer is waited for.
const grace = time.Second

// quiet is a log that keeps nothing.
type quiet struct{}

// Print drops what it is given.
func (quiet) Print(...any) {}

// session is one connection, prepared for reading.
type session struct {
	conn  driver.Conn
	meter *meter
	id    string // of the connection at the server
	maria bool
}

// open connects and prepares a session. The caller must close it.
func (d *database) open(ctx context.Context) (*session, error) {
	s, err := d.connect(ctx)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	if err := d.prepare(ctx, s); err != nil {
		_ = s.conn.Close()
		return nil, unavailable(ctx, err)
	}
	return s, nil
}

func (d *database) connect(ctx context.Context) (*session, error) {
	s := &session{meter: newMeter()}
	settings := d.settings.Clone()
	settings.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: settings.Timeout}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return s.meter.around(conn), nil
	}
	connector, err := mysql.NewConnector(settings)
	if err != nil {
		return nil, err
	}
	s.conn, err = connector.Connect(ctx)
	return s, err
}

// ask runs one question with a session of its own, when one of the few is free.
func (d *database) ask(ctx context.Context, question func(*session) error) error {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return unavailable(ctx, ctx.Err())
	}
	s, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.conn.Close() }()
	return question(s)
}

// query runs a statement that was checked.
func (d *database) query(ctx context.Context, statement string) (table, error) {
	var got table
	err := d.ask(ctx, func(s *session) error {
		if err := d.examine(ctx, s); err != nil {
			return err
		}
		if err := s.exec(ctx, "START TRANSACTION READ ONLY"); err != nil {
			return unavailable(ctx, err)
		}
		var err error
		got, err = s.read(ctx, statement, d.config.Rows, d.config.Bytes)
		if err != nil || got.cut {
			d.kill(ctx, s.id)
		}
		return failure(ctx, err)
	})
	return got, err
}

// examine looks at what the account may do: always when that matters, else once, for the log.
func (d *database) examine(ctx context.Context, s *session) error {
	if !d.strict && d.warned.Load() {
		return nil
	}
	trouble, err := s.privileges(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	if trouble == "" {
		return nil
	}
	if d.strict {
		return fact.Unavailable("the datasource is not asked: "+trouble, nil)
	}
	if !d.warned.Swap(true) {
		d.config.Log.Warn("datasource account may do more than read", slog.String("datasource", d.name))
	}
	return nil
}

// check opens a session and reports an account that may do more than read.
func (d *database) check(ctx context.Context) error {
	return d.ask(ctx, func(s *session) error {
		trouble, err := s.privileges(ctx)
		if err != nil {
			return unavailable(ctx, err)
		}
		if trouble != "" {
			return fact.Unavailable(trouble, nil)
		}
		return nil
	})
}

// killPatience bounds how long a statement that is given up is gone after.
const killPatience = time.Second

// kill ends a statement at the server, over a connection of its own. It helps nobody to know that this failed: the
// server ends the statement when its time is over.
func (d *database) kill(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killPatience)
	defer cancel()
	other, err := d.connect(ctx)
	if err != nil {
		return
	}
	_ = other.exec(ctx, "KILL "+id)
	_ = other.conn.Close()
}
