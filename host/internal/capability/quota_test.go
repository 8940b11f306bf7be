package capability

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	xsys "github.com/tetratelabs/wazero/experimental/sys"

	"github.com/fastreact/fastreact/sdk"
)

// counted is a folder with an account, as one call sees it.
type counted struct {
	*Root
	account *Account
	dir     string
}

func openCounted(t *testing.T, quotas *Quotas, dir string) counted {
	t.Helper()
	account, release, err := quotas.Open(dir)
	must(t, err)
	root, err := OpenRoot(dir, sdk.ReadWrite, account)
	must(t, err)
	t.Cleanup(func() {
		_ = root.Close()
		release()
	})
	return counted{root, account, dir}
}

// withRoom returns an empty folder that may hold 1000 bytes and 5 files.
func withRoom(t *testing.T) counted {
	t.Helper()
	return openCounted(t, NewQuotas(Quota{Bytes: 1000, Files: 5}), t.TempDir())
}

func (c counted) create(t *testing.T, name string, flag xsys.Oflag) xsys.File {
	t.Helper()
	opened, errno := c.OpenFile(name, xsys.O_RDWR|xsys.O_CREAT|flag, 0o600)
	if errno != 0 {
		t.Fatal(errno)
	}
	return opened
}

// put writes a file of n bytes and closes it.
func (c counted) put(t *testing.T, name string, n int) xsys.Errno {
	t.Helper()
	file := c.create(t, name, xsys.O_TRUNC)
	defer file.Close()
	_, errno := file.Write(make([]byte, n))
	return errno
}

func (c counted) holds(t *testing.T, bytes, files int64) {
	t.Helper()
	if gotBytes, gotFiles := c.account.Used(); gotBytes != bytes || gotFiles != files {
		t.Errorf("%d bytes in %d files are counted, want %d in %d", gotBytes, gotFiles, bytes, files)
	}
	fresh := &Account{dir: c.dir}
	must(t, fresh.count())
	if fresh.bytes != bytes || fresh.files != files {
		t.Errorf("%d bytes in %d files are there, want %d in %d", fresh.bytes, fresh.files, bytes, files)
	}
}

func TestWritesBeyondTheQuotaAreRefused(t *testing.T) {
	c := withRoom(t)
	if errno := c.put(t, "a", 600); errno != 0 {
		t.Fatal(errno)
	}
	if errno := c.put(t, "b", 600); errno != errNoSpace {
		t.Errorf("errno %v", errno)
	}
	c.holds(t, 600, 2)
}

func TestOverwritingTakesNoMoreRoom(t *testing.T) {
	c := withRoom(t)
	for range 5 {
		if errno := c.put(t, "a", 900); errno != 0 {
			t.Fatal(errno)
		}
	}
	file := c.create(t, "a", 0)
	defer file.Close()
	if _, errno := file.Pwrite(make([]byte, 100), 850); errno != 0 {
		t.Error(errno)
	}
	c.holds(t, 950, 1)
}

func TestHolesCountAsIfTheyWereWritten(t *testing.T) {
	c := withRoom(t)
	file := c.create(t, "a", 0)
	defer file.Close()
	if errno := file.Truncate(1001); errno != errNoSpace {
		t.Errorf("truncate: errno %v", errno)
	}
	if _, errno := file.Pwrite([]byte("x"), 5000); errno != errNoSpace {
		t.Errorf("pwrite: errno %v", errno)
	}
	if _, errno := file.Seek(5000, 0); errno != 0 {
		t.Fatal(errno)
	}
	if _, errno := file.Write([]byte("x")); errno != errNoSpace {
		t.Errorf("write: errno %v", errno)
	}
	if errno := file.Truncate(1000); errno != 0 {
		t.Error(errno)
	}
	c.holds(t, 1000, 1)
	if errno := file.Truncate(10); errno != 0 {
		t.Error(errno)
	}
	c.holds(t, 10, 1)
}

func TestAppendingIsCounted(t *testing.T) {
	c := withRoom(t)
	file := c.create(t, "a", xsys.O_APPEND)
	defer file.Close()
	for n := range 11 {
		if _, errno := file.Write(make([]byte, 100)); (errno == 0) != (n < 10) {
			t.Errorf("write %d: errno %v", n, errno)
		}
	}
	c.holds(t, 1000, 1)
}

func TestAFileWithTwoNamesCountsOnce(t *testing.T) {
	c := withRoom(t)
	c.put(t, "a", 700)
	if errno := c.Link("a", "b"); errno != 0 {
		t.Fatal(errno)
	}
	c.holds(t, 700, 2)
	c.Unlink("a")
	c.holds(t, 700, 1)
	c.Unlink("b")
	c.holds(t, 0, 0)
}

func TestMovingOverAFileFreesIt(t *testing.T) {
	c := withRoom(t)
	c.put(t, "a", 300)
	c.put(t, "b", 500)
	if errno := c.Rename("a", "b"); errno != 0 {
		t.Fatal(errno)
	}
	c.holds(t, 300, 1)
	c.Link("b", "c")
	if errno := c.Rename("b", "c"); errno != 0 { // both names are one file: nothing happens
		t.Fatal(errno)
	}
	c.holds(t, 300, 2)
}

func TestARemovedFileThatIsOpenKeepsItsRoom(t *testing.T) {
	c := withRoom(t)
	file := c.create(t, "a", 0)
	if _, errno := file.Write(make([]byte, 600)); errno != 0 {
		t.Fatal(errno)
	}
	c.Unlink("a")
	if _, errno := file.Write(make([]byte, 300)); errno != 0 {
		t.Fatal(errno)
	}
	if errno := c.put(t, "b", 200); errno != errNoSpace {
		t.Errorf("errno %v", errno)
	}
	file.Close()
	c.holds(t, 0, 1)
	if errno := c.put(t, "b", 1000); errno != 0 {
		t.Error(errno)
	}
}

func TestFilesFoldersAndLinksAreBoundedTogether(t *testing.T) {
	c := withRoom(t)
	steps := []xsys.Errno{c.Mkdir("d", 0o700), c.put(t, "d/f", 1), c.Symlink("d", "l"), c.Link("d/f", "h"), c.Mkdir("e", 0o700)}
	for n, errno := range steps {
		if errno != 0 {
			t.Errorf("step %d: errno %v", n, errno)
		}
	}
	_, opened := c.OpenFile("more", xsys.O_RDWR|xsys.O_CREAT, 0o600)
	for name, errno := range map[string]xsys.Errno{"open": opened, "mkdir": c.Mkdir("m", 0o700), "symlink": c.Symlink("d", "m"), "link": c.Link("h", "m")} {
		if errno != errNoSpace {
			t.Errorf("%s: errno %v", name, errno)
		}
	}
	c.holds(t, 1, 5)
	c.Rmdir("e")
	c.holds(t, 1, 4)
}

func TestWhatIsThereAlreadyIsCounted(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o700), os.WriteFile(filepath.Join(dir, "d", "f"), make([]byte, 900), 0o600))
	c := openCounted(t, NewQuotas(Quota{Bytes: 1000, Files: 5}), dir)
	c.holds(t, 900, 2)
	if errno := c.put(t, "g", 200); errno != errNoSpace {
		t.Errorf("errno %v", errno)
	}
}

func TestAFullWorkspaceCanBeReadAndEmptied(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), make([]byte, 5000), 0o600))
	c := openCounted(t, NewQuotas(Quota{Bytes: 1000, Files: 1}), dir)
	if file, errno := c.OpenFile("f", xsys.O_RDONLY, 0); errno != 0 {
		t.Error(errno)
	} else {
		file.Close()
	}
	if errno := c.Unlink("f"); errno != 0 {
		t.Error(errno)
	}
	c.holds(t, 0, 0)
}

func TestAnAccountIsSharedByCallsAtTheSameTime(t *testing.T) {
	quotas, dir := NewQuotas(Quota{Bytes: 1000, Files: 5}), t.TempDir()
	first, second := openCounted(t, quotas, dir), openCounted(t, quotas, dir)
	first.put(t, "a", 800)
	if errno := second.put(t, "b", 300); errno != errNoSpace {
		t.Errorf("errno %v", errno)
	}
}

// TestTheCountStaysExactUnderManyCalls lets many calls change one folder at once.
func TestTheCountStaysExactUnderManyCalls(t *testing.T) {
	quotas, dir := NewQuotas(Quota{Bytes: 200_000, Files: 60}), t.TempDir()
	var calls sync.WaitGroup
	for n := range 8 {
		calls.Go(func() {
			account, release, err := quotas.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			root, err := OpenRoot(dir, sdk.ReadWrite, account)
			if err != nil {
				t.Error(err)
				return
			}
			defer root.Close()
			for step := range 150 {
				hammer(root, n, step)
				if bytes, files := account.Used(); bytes > 200_000 || files > 60 {
					t.Errorf("%d bytes in %d files", bytes, files)
				}
			}
		})
	}
	calls.Wait()
	account, release, err := quotas.Open(dir)
	must(t, err)
	defer release()
	counted{account: account, dir: dir}.exact(t)
}

// exact compares the count with what is there.
func (c counted) exact(t *testing.T) {
	t.Helper()
	bytes, files := c.account.Used()
	c.holds(t, bytes, files)
}

// hammer does one of many changes to a few names that all calls share.
func hammer(root *Root, n, step int) {
	name, other := fmt.Sprintf("f%d", (n+step)%7), fmt.Sprintf("f%d", (n*3+step)%7)
	switch step % 6 {
	case 0, 1:
		if file, errno := root.OpenFile(name, xsys.O_RDWR|xsys.O_CREAT|xsys.O_APPEND, 0o600); errno == 0 {
			_, _ = file.Write(make([]byte, 1000+step))
			_ = root.Unlink(other)
			_, _ = file.Write(make([]byte, 100))
			_ = file.Close()
		}
	case 2:
		_ = root.Rename(name, other)
	case 3:
		_ = root.Link(name, other)
	case 4:
		if file, errno := root.OpenFile(name, xsys.O_RDWR|xsys.O_CREAT|xsys.O_TRUNC, 0o600); errno == 0 {
			_ = file.Truncate(int64(step * 50))
			_ = file.Close()
		}
	case 5:
		_ = root.Mkdir("d"+name, fs.FileMode(0o700))
		_ = root.Symlink(name, "l"+other)
		_ = root.Unlink(name)
		_ = root.Rmdir("d" + other)
	}
}
