package peers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// postgresUser is the account that may do everything. It has no password.
const postgresUser = "fastreact"

// PostgresConfig says how a server keeps its data. The zero value is for tests that pull no plug.
type PostgresConfig struct {
	Durable  bool     // whether a commit waits for the disk
	Settings []string // such as max_connections=50
}

// Postgres is a server whose account fastreact has no password and may do everything.
type Postgres struct {
	Addr   string // host:port on loopback
	Folder string // of the server, its data and its socket

	port, programs string
	as             *syscall.Credential
	argv           []string
	server         *program
	databases      atomic.Int64
}

// StartPostgres starts a server; the caller must Stop it. It takes 1 to 3 seconds.
func StartPostgres(cfg PostgresConfig) (*Postgres, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	folder, as, err := folder("postgres")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	data := filepath.Join(folder, "data")
	p := &Postgres{
		Addr: "127.0.0.1:" + strconv.Itoa(port), Folder: folder, port: strconv.Itoa(port), programs: programs, as: as,
	}
	p.argv = []string{
		filepath.Join(programs, "postgres"), "-D", data, "-p", p.port, "-k", folder, "-c", "listen_addresses=127.0.0.1",
		"-c", "shared_buffers=16MB", "-c", "max_connections=200", "-c", "autovacuum=off", "-c", "jit=off",
		"-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "max_parallel_workers=0",
	}
	if !cfg.Durable {
		p.argv = append(p.argv, "-F", "-c", "full_page_writes=off")
	}
	for _, setting := range cfg.Settings {
		p.argv = append(p.argv, "-c", setting)
	}
	err = once(folder, as, filepath.Join(programs, "initdb"), "-D", data, "-A", "trust", "-U", postgresUser, "-N",
		"-E", "UTF8", "--no-locale")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if p.server, err = start(folder, as, p.ready, p.argv...); err != nil {
		return nil, err
	}
	return p, nil
}

// NeedPostgres starts a server for one test, or ends the test as Missing does.
func NeedPostgres(t testing.TB, cfg PostgresConfig) *Postgres {
	t.Helper()
	p, err := StartPostgres(cfg)
	if errors.Is(err, ErrMissing) {
		Missing(t, "PostgreSQL")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stop PostgreSQL: %v", err)
		}
	})
	return p
}

// postgresPrograms returns the folder of the server's programs. Debian keeps it out of the PATH.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%w: PostgreSQL (initdb)", ErrMissing)
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func (p *Postgres) ready() error {
	_, err := p.SQL("postgres", "SELECT 1")
	return err
}

// SQL runs statements in a database, separated by semicolons, and returns what they answer: values with | between them.
func (p *Postgres) SQL(database, statements string) (string, error) {
	command := exec.Command(filepath.Join(p.programs, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", p.Folder,
		"-p", p.port, "-U", postgresUser, "-d", database)
	command.Stdin = strings.NewReader(statements)
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run SQL: %w: %s", err, output)
	}
	return strings.TrimSpace(string(output)), nil
}

// Database makes a database that holds what the template holds, nothing when template is empty, and returns its name.
func (p *Postgres) Database(template string) (string, error) {
	name := "test_" + strconv.FormatInt(p.databases.Add(1), 10)
	statement := "CREATE DATABASE " + name
	if template != "" {
		statement += " TEMPLATE " + template
	}
	_, err := p.SQL("postgres", statement)
	return name, err
}

// DSN writes where a database is, over TCP and without encryption.
func (p *Postgres) DSN(database string) string {
	return "postgres://" + postgresUser + "@" + p.Addr + "/" + database + "?sslmode=disable"
}

// SocketDSN writes where a database is, over the server's Unix socket.
func (p *Postgres) SocketDSN(database string) string {
	return "postgres://" + postgresUser + "@/" + database + "?host=" + p.Folder + "&port=" + p.port
}

// Log returns what the server has logged since it was started last.
func (p *Postgres) Log() string { return p.server.log.String() }

// Crash ends the server at once, as a power cut would: connections are cut, and whoever starts it again recovers.
func (p *Postgres) Crash() {
	_ = p.server.command.Process.Signal(syscall.SIGQUIT)
	<-p.server.ended
}

// Continue starts a server that crashed.
func (p *Postgres) Continue() error {
	again, err := start(p.Folder, p.as, p.ready, p.argv...)
	if err != nil {
		return err
	}
	p.server = again
	return nil
}

// Restart crashes the server and starts it again.
func (p *Postgres) Restart() error {
	p.Crash()
	return p.Continue()
}

// Stop ends the server, cuts its connections and removes its folder.
func (p *Postgres) Stop() error {
	_ = p.server.command.Process.Signal(syscall.SIGINT) // SIGTERM would wait for clients
	return p.server.stop()
}
