package blackbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// secretWord is the password of every DSN here. Nothing may show it.
const secretWord = "hunter2"

// storeTrial starts the service on a store that cannot serve, in a folder of its own.
type storeTrial struct {
	t      *testing.T
	folder string
	config string
}

func newStoreTrial(t *testing.T, section string) *storeTrial {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "fastreact.yaml")
	text := "server: {addr: \"127.0.0.1:0\"}\nmodel: {base_url: \"http://127.0.0.1:1/v1\", name: none}\nstore: {" + section + "}" + loadingNone(t)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &storeTrial{t, folder, file}
}

// command runs the program once and returns what it wrote and its exit status.
func (o *storeTrial) command(name string, args ...string) (out, errs string, status int) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, binary, append([]string{name, "--config", o.config}, args...)...)
	command.Dir = o.folder
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		o.t.Fatal(err)
	}
	if shown := stdout.String() + stderr.String(); strings.Contains(shown, secretWord) {
		o.t.Errorf("the password is shown: %s", shown)
	}
	return stdout.String(), stderr.String(), status
}

// refuses starts the service, which must end with status 1 and one sentence that says all the words.
func (o *storeTrial) refuses(store string, words ...string) {
	o.t.Helper()
	out, errs, status := o.command("serve", "--store", store)
	var said []string
	for line := range strings.Lines(errs) {
		if !strings.Contains(line, "level=INFO") && !strings.Contains(line, `"level":"INFO"`) {
			said = append(said, line)
		}
	}
	text := strings.Join(said, "")
	if status != 1 || out != "" || strings.Count(text, "fastreact: ") != 1 || len(said) > 3 {
		o.t.Errorf("status %d, on standard output %q, and it said:\n%s", status, out, text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			o.t.Errorf("it does not say %q:\n%s", word, text)
		}
	}
}

// deaf is the address of a server that takes connections and never says a word.
func deaf(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

func TestADSNThatLeadsNowhereIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	for fact, c := range map[string]struct {
		dsn  string
		says []string
	}{
		"is none":         {"postgres://clerk:" + secretWord + "@127.0.0.1:port/ledger", []string{"DSN cannot be read", "write it such as postgres://"}},
		"has a bad mode":  {"postgres://clerk:" + secretWord + "@127.0.0.1:1/ledger?sslmode=maybe", []string{"DSN cannot be read"}},
		"is MySQL's":      {"mysql://clerk:" + secretWord + "@127.0.0.1:1/ledger", []string{"is no file", "--store postgres://"}},
		"unknown host":    {"postgres://clerk:" + secretWord + "@nowhere.invalid/ledger", []string{"nowhere.invalid", "no such host", "correct the host"}},
		"nobody listens":  {"postgres://clerk:" + secretWord + "@127.0.0.1:1/ledger", []string{"127.0.0.1:1", "refused", "start the server"}},
		"nobody answers":  {"postgres://clerk:" + secretWord + "@" + deaf(t) + "/ledger", []string{"cannot be reached in time", "store.connect_timeout"}},
		"no file in /dev": {"/dev/null", []string{"not a regular file"}},
	} {
		t.Run(fact, func(t *testing.T) { newStoreTrial(t, "connect_timeout: 500ms").refuses(c.dsn, c.says...) })
	}
}

func TestAPostgreSQLThatCannotServeIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	server := shared.need(t)
	sql := func(database, statements string) {
		t.Helper()
		if _, err := server.SQL(database, statements); err != nil {
			t.Fatal(err)
		}
	}
	base, err := server.Database("")
	if err != nil {
		t.Fatal(err)
	}
	trial := newStoreTrial(t, "connect_timeout: 5s, auto_migrate: false")
	dsn := func(account, database string) string {
		return "postgres://" + account + ":" + secretWord + "@" + server.Addr + "/" + database + "?sslmode=disable"
	}
	sql(base, "CREATE ROLE "+base+"_locked NOLOGIN; CREATE ROLE "+base+"_guest LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	t.Run("the account is refused", func(t *testing.T) {
		trial.in(t).refuses(dsn(base+"_locked", base), `database "`+base+`"`, "refuses the account or its password", "correct user and password")
	})
	t.Run("there is no such database", func(t *testing.T) {
		trial.in(t).refuses(dsn("fastreact", "nowhere"), `"nowhere"`, "create it first")
	})
	t.Run("the account has no rights", func(t *testing.T) {
		newStoreTrial(t, "auto_migrate: true").refuses(dsn(base+"_guest", base), "permission denied", "make it the owner")
	})
	t.Run("an operator migrates", func(t *testing.T) {
		trial.in(t).migrates(dsn("fastreact", base))
	})
	t.Run("a newer program wrote it", func(t *testing.T) {
		sql(base, "INSERT INTO migrations VALUES (99, 0)")
		trial.in(t).meetsNewer(dsn("fastreact", base))
	})
	t.Run("it is read-only", func(t *testing.T) {
		sql("postgres", "ALTER DATABASE "+base+" SET default_transaction_read_only = on")
		trial.in(t).refuses(dsn("fastreact", base), "is read-only", "not a standby")
	})
	t.Run("its disk is full", func(t *testing.T) {
		disk := fillable(t, server)
		disk.fill()
		newStoreTrial(t, "").refuses(dsn("fastreact", disk.base), "disk is full", "make room")
	})
}

// in returns the trial for a subtest.
func (o *storeTrial) in(t *testing.T) *storeTrial { return &storeTrial{t, o.folder, o.config} }

// migrates takes an operator's way through a store without a schema whose configuration says auto_migrate: false.
func (o *storeTrial) migrates(store string) {
	o.t.Helper()
	o.refuses(store, "its schema is version 0", "run `fastreact migrate`")
	for _, step := range []struct {
		args   []string
		says   string
		status int
	}{
		{[]string{"--check"}, "The schema is version 0, this program needs", 1},
		{[]string{"--check", "--json"}, `"found": 0`, 1},
		{nil, "The schema was version 0 and is version", 0},
		{[]string{"--check"}, "this program needs", 0},
		{nil, "as it should be", 0},
	} {
		out, errs, status := o.command("migrate", append(step.args, "--store", store)...)
		if status != step.status || !strings.Contains(out, step.says) || errs != "" {
			o.t.Errorf("migrate %v: status %d\n%s%s", step.args, status, out, errs)
		}
	}
}

// meetsNewer demands that a store of a newer program is refused everywhere and left alone.
func (o *storeTrial) meetsNewer(store string) {
	o.t.Helper()
	o.refuses(store, "its schema is version 99", "use a newer program")
	if out, errs, status := o.command("migrate", "--store", store); status != 1 || out != "" || !strings.Contains(errs, "use a newer program") {
		o.t.Errorf("migrate: status %d\n%s%s", status, out, errs)
	}
	if out, errs, status := o.command("migrate", "--check", "--store", store); status != 1 || !strings.Contains(out, "version 99") {
		o.t.Errorf("migrate --check: status %d\n%s%s", status, out, errs)
	}
}

func TestAFileThatCannotServeIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made := filepath.Join(folder, "made.db")
	peers.Need(t, "sqlite3")
	trial := newStoreTrial(t, "auto_migrate: false")
	t.Run("an operator migrates", func(t *testing.T) { trial.in(t).migrates(made) })
	t.Run("another program works on it", func(t *testing.T) {
		end := lockFile(t, made)
		trial.in(t).refuses(made, "locked", "another program works on the file: end it")
		end()
	})
	t.Run("a newer program wrote it", func(t *testing.T) {
		sqlite3(t, made, "INSERT INTO migrations VALUES (99, 0)")
		trial.in(t).meetsNewer(made)
	})
	t.Run("it is another program's", func(t *testing.T) {
		sqlite3(t, made, "ALTER TABLE migrations RENAME TO theirs")
		trial.in(t).refuses(made, "another program's database", "name another file")
	})
	t.Run("it is no database", func(t *testing.T) {
		text := filepath.Join(folder, "text")
		if err := os.WriteFile(text, bytes.Repeat([]byte("text "), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		trial.in(t).refuses(text, "file is not a database", "name another file")
	})
	t.Run("it is a folder", func(t *testing.T) { trial.in(t).refuses(folder, "is a directory", "name another file") })
	t.Run("its folder is read-only", func(t *testing.T) {
		place := smallDisk(t, "1m")
		if err := syscall.Mount("", place, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		trial.in(t).refuses(filepath.Join(place, "f.db"), "read-only file system", "must be able to write")
	})
	t.Run("its disk is full", func(t *testing.T) {
		newStoreTrial(t, "").refuses(filepath.Join(smallDisk(t, "64k"), "f.db"), "disk is full", "make room")
	})
}

// sqlite3 changes a file behind the program's back.
func sqlite3(t *testing.T, file, statement string) string {
	t.Helper()
	out, err := exec.Command("sqlite3", "-cmd", ".timeout 20000", file, statement).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// lockFile keeps everybody else from writing to a database, as a person with a shell may, until end.
func lockFile(t *testing.T, file string) (end func()) {
	t.Helper()
	shell := exec.Command("sqlite3", "-bail", file)
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _ = in.Close(); _ = shell.Wait() })
	t.Cleanup(end)
	_, _ = io.WriteString(in, ".timeout 5000\nBEGIN IMMEDIATE;\nSELECT 'locked';\n")
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return end
}

// smallDisk is a file system of its own. It takes root to make one.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	place := t.TempDir()
	mountAt(t, place, "size="+size)
	return place
}

func mountAt(t *testing.T, place, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", place, "tmpfs", 0, options); err != nil {
		t.Skip("peer not installed: the right to mount a file system")
	}
	t.Cleanup(func() { _ = syscall.Unmount(place, syscall.MNT_DETACH) })
}

// disk is a small disk that a test fills.
type disk struct {
	t     *testing.T
	place string
	base  string // the database on it
}

// fillable makes an empty database on a small disk.
func fillable(t *testing.T, server *peers.Postgres) *disk {
	t.Helper()
	d := &disk{t: t, base: "on_" + strings.ToLower(rand.Text())}
	d.place = filepath.Join(server.Folder, d.base)
	info, err := os.Stat(server.Folder)
	if err == nil {
		err = os.Mkdir(d.place, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	mountAt(t, d.place, fmt.Sprintf("mode=700,size=32m,uid=%d,gid=%d", owner.Uid, owner.Gid))
	statement := fmt.Sprintf("CREATE TABLESPACE %[1]s LOCATION '%[2]s'; CREATE DATABASE %[1]s TABLESPACE %[1]s", d.base, d.place)
	if _, err := server.SQL("postgres", statement); err != nil {
		t.Fatal(err)
	}
	if _, err := server.SQL(d.base, "SELECT 1"); err != nil { // the first connection writes a file, too
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := server.SQL("postgres", fmt.Sprintf("DROP DATABASE %[1]s WITH (FORCE); DROP TABLESPACE %[1]s", d.base))
		if err != nil {
			t.Error(err)
		}
	})
	return d
}

// fill leaves no room on the disk.
func (d *disk) fill() {
	d.t.Helper()
	file, err := os.Create(filepath.Join(d.place, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
}
