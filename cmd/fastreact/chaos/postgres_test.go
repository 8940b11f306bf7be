package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// postgres is some nodes on one database, each with a network of its own to it.
type postgres struct {
	size    int
	server  *server
	base    string
	proxies []*proxy
}

func (p *postgres) name() string { return "postgres" }
func (p *postgres) nodes() int   { return p.size }

// prepare makes a database for a world, and the networks.
func (p *postgres) prepare(w *world) {
	p.server.mu.Lock()
	p.server.bases++
	p.base = fmt.Sprintf("world%d", p.server.bases)
	p.server.mu.Unlock()
	if err := p.server.do("postgres", "CREATE DATABASE "+p.base); err != nil {
		w.t.Fatal(err)
	}
	p.proxies = nil
	for range p.size {
		network, err := newProxy("127.0.0.1:" + p.server.port)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(network.close)
		p.proxies = append(p.proxies, network)
	}
}

func (p *postgres) config(w *world, i int) string {
	variable := fmt.Sprintf("CHAOS_DSN_%d", i)
	w.env = append(w.env, variable+"=postgres://fastreact@"+p.proxies[i].listener.Addr().String()+"/"+p.base+"?sslmode=disable")
	return "driver: postgres, dsn_env: " + variable
}

func (p *postgres) faults() []fault {
	return []fault{
		{"restart of the database", p.restarted}, {"one node cut off", p.cutOff}, {"one node cut off in silence", p.silent},
		{"all nodes cut off", p.allCutOff}, {"read-only database", p.readOnly}, {"a long transaction", p.longTransaction},
	}
}

func (p *postgres) restarted(_ context.Context, w *world) {
	w.fault("the database ends at once, and is started again")
	if err := p.server.restart(); err != nil {
		w.violate("harness", "%v", err)
	}
}

func (p *postgres) cutOff(ctx context.Context, w *world) {
	i := w.roll(p.size)
	w.fault("node-%d is cut off", i+1)
	p.proxies[i].cut()
	pause(ctx, w.between(time.Second, lease+2*time.Second))
	p.proxies[i].mend()
	w.fault("node-%d is reached again", i+1)
}

func (p *postgres) silent(ctx context.Context, w *world) {
	i := w.roll(p.size)
	w.fault("node-%d hears nothing", i+1)
	p.proxies[i].stall()
	pause(ctx, lease+w.between(500*time.Millisecond, 2*time.Second))
	p.proxies[i].mend()
	w.fault("node-%d hears again", i+1)
}

func (p *postgres) allCutOff(ctx context.Context, w *world) {
	w.fault("all nodes are cut off")
	for _, network := range p.proxies {
		network.cut()
	}
	pause(ctx, w.between(time.Second, lease+2*time.Second))
	for _, network := range p.proxies {
		network.mend()
	}
	w.fault("all nodes are reached again")
}

func (p *postgres) readOnly(ctx context.Context, w *world) {
	w.fault("the database takes no writes")
	turn := func(to string) {
		err := p.server.do(p.base, "SET default_transaction_read_only = off; ALTER DATABASE "+p.base+" SET default_transaction_read_only = "+to)
		if err == nil {
			err = p.server.do(p.base, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+p.base+"' AND pid <> pg_backend_pid()")
		}
		if err != nil {
			w.violate("harness", "%v", err)
		}
	}
	turn("on")
	pause(ctx, w.between(500*time.Millisecond, 2*time.Second))
	turn("off")
	w.fault("the database takes writes")
}

func (p *postgres) longTransaction(ctx context.Context, w *world) {
	w.fault("somebody holds the rows of all runs under way")
	held := w.between(500*time.Millisecond, 2*time.Second).Seconds()
	err := p.server.do(p.base, fmt.Sprintf(
		"BEGIN; UPDATE runs SET next_seq = next_seq WHERE finished_at IS NULL; SELECT pg_sleep(%f); ROLLBACK", held))
	w.fault("the rows are free: %v", err)
}

// server is a PostgreSQL of the tests' own.
type server struct {
	folder, port string
	as           *syscall.Credential

	mu    sync.Mutex
	bases int
	main  *exec.Cmd
	ended chan struct{}
}

// program finds a program of PostgreSQL, also where Debian keeps it.
func program(name string) string {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[len(found)-1]
	}
	found, _ := exec.LookPath(name)
	return found
}

// needServer starts a PostgreSQL for the worlds of one test: another's is not disturbed when this one falls.
func needServer(t *testing.T) *server {
	t.Helper()
	if program("initdb") == "" {
		peers.Missing(t, "PostgreSQL")
	}
	s, err := startServer()
	if s != nil {
		t.Cleanup(s.end)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func startServer() (*server, error) {
	folder, err := os.MkdirTemp("/tmp", "fastreact-chaos-pg-") // its user must get there
	if err != nil {
		return nil, err
	}
	s := &server{folder: folder}
	if os.Geteuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(folder, uid, gid); err != nil {
			return nil, err
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, s.port, _ = net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	out, err := s.command("initdb", "-D", folder+"/data", "-A", "trust", "-U", "fastreact", "-N", "-E", "UTF8").CombinedOutput()
	if err != nil {
		return s, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, s.start()
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	command := exec.Command(program(name), args...)
	command.Dir = s.folder
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.folder, "LC_ALL=C"}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	return command
}

// start runs the server and waits until it answers.
func (s *server) start() error {
	s.main = s.command("postgres", "-D", s.folder+"/data", "-p", s.port, "-k", s.folder,
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=100", "-F")
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.main.Stdout, s.main.Stderr = log, log
	s.main.SysProcAttr.Pdeathsig = 0 // the thread that starts it may end earlier than the test
	if err := s.main.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func(server *exec.Cmd, ended chan struct{}) { _ = server.Wait(); close(ended) }(s.main, s.ended)
	for until := time.Now().Add(30 * time.Second); ; pause(context.Background(), 50*time.Millisecond) {
		err := s.do("postgres", "SELECT 1")
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}

// restart ends the server as a crash would, and starts it again on the same data.
func (s *server) restart() error {
	s.stop(syscall.SIGQUIT)
	return s.start()
}

func (s *server) stop(how syscall.Signal) {
	if s.ended == nil {
		return
	}
	_ = s.main.Process.Signal(how)
	<-s.ended
}

// do runs statements in a database.
func (s *server) do(base, statements string) error {
	psql := s.command("psql", "-h", "127.0.0.1", "-p", s.port, "-U", "fastreact", "-d", base, "-v", "ON_ERROR_STOP=1", "-Xqf", "-")
	in, err := psql.StdinPipe()
	if err != nil {
		return err
	}
	var out strings.Builder
	psql.Stdout, psql.Stderr = &out, &out
	if err := psql.Start(); err != nil {
		return err
	}
	_, _ = io.WriteString(in, statements+";\n")
	_ = in.Close()
	if err := psql.Wait(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, out.String())
	}
	return nil
}

// end ends the server and removes its data.
func (s *server) end() {
	s.stop(syscall.SIGQUIT)
	_ = os.RemoveAll(s.folder)
}
