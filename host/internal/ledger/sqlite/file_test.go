package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
)

// refused opens a ledger that must not open, and demands words of the error.
func refused(t *testing.T, path, words string) {
	t.Helper()
	l, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err == nil {
		t.Fatal("opened", l.Close())
	}
	if !strings.Contains(err.Error(), words) {
		t.Errorf("error %q does not say %q", err, words)
	}
}

const inUse = "another process has this ledger open"

func TestOpenLedgerIsRefusedToASecondOpener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path, nil)
	defer l.Close() //nolint:errcheck // the test is over
	refused(t, path, inUse)
}

func TestOpenLedgerIsRefusedUnderASecondName(t *testing.T) {
	folder := t.TempDir()
	path, other := filepath.Join(folder, "ledger.db"), filepath.Join(folder, "other.db")
	l := open(t, path, nil)
	defer l.Close() //nolint:errcheck // the test is over
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	refused(t, other, inUse)
}

func TestLedgerOfALivingProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashPath+"="+path, crashOwner+"=other")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan() // it has written, so it holds the ledger
	refused(t, path, inUse)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	if err := open(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFailedOpenReleasesTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, path, "not a database")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyTheOwnerMayReadALedger(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	l := open(t, filepath.Join(folder, "ledger.db"), nil)
	defer l.Close() //nolint:errcheck // the test is over
	if err := l.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := map[string]fs.FileMode{}
	err := filepath.WalkDir(filepath.Dir(folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		got[filepath.Base(path)] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{
		"a": 0o700, "b": 0o700, "ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600,
		"ledger.db.lock": 0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestRightsOfOthersAreTakenAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o664); err != nil { //nolint:gosec // the fault to be mended
		t.Fatal(err)
	}
	l := open(t, path, nil)
	defer l.Close() //nolint:errcheck // the test is over
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %o", got)
	}
}

func TestLedgerOpensUnderAnyFileName(t *testing.T) {
	for _, name := range []string{"a b", "a?b=c", "a#b", "a%20b", "ü&_pragma=x", "file:x", "a'b"} {
		path := filepath.Join(t.TempDir(), name)
		l := open(t, path, nil)
		if err := l.Ping(context.Background()); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%q is not where the ledger is: %v", name, err)
		}
	}
}

func TestPathThatIsNoFileIsRefused(t *testing.T) {
	refused(t, "", "path is empty")
	refused(t, t.TempDir(), "is a directory")
}

// altered makes a ledger and changes its file with the statement.
func altered(t *testing.T, statement string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := open(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNewerSchemaIsRefused(t *testing.T) {
	refused(t, altered(t, `INSERT INTO migrations VALUES (99, 0)`), "use a newer program")
}

func TestAnotherProgramsDatabaseIsRefused(t *testing.T) {
	refused(t, altered(t, `ALTER TABLE migrations RENAME TO theirs`), "another program's database")
}

func TestFileOfAnotherProgramIsLeftAsItIs(t *testing.T) {
	folder := t.TempDir()
	text, database := filepath.Join(folder, "text"), altered(t, `ALTER TABLE migrations RENAME TO theirs`)
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, database} {
		if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // as other programs' files may be
			t.Fatal(err)
		}
		refused(t, path, "name another file")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
}

func TestSchemaIsKeptForAnOperatorWhoAskedForThat(t *testing.T) {
	path := altered(t, `DELETE FROM migrations WHERE version > 8`)
	for fact, path := range map[string]string{"older": path, "none": filepath.Join(t.TempDir(), "none.db")} {
		_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, KeepSchema: true})
		if !errors.Is(err, sqlite.ErrBehind) || !strings.Contains(err.Error(), "run `fastreact migrate`") {
			t.Errorf("%s: %v", fact, err)
		}
	}
	if schema, err := sqlite.Look(t.Context(), path); err != nil || schema.Found != 8 {
		t.Errorf("%+v %v", schema, err)
	}
}

func TestClosedLedgerIsOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path, nil)
	if err := l.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + "-*")
	if err != nil || len(left) > 0 {
		t.Errorf("%v left beside it, error %v", left, err)
	}
}
