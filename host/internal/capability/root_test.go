package capability

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	xsys "github.com/tetratelabs/wazero/experimental/sys"

	"github.com/fastreact/fastreact/sdk"
)

func openRoot(t *testing.T, dir string, mode sdk.FileMode) *Root {
	t.Helper()
	root, err := OpenRoot(dir, mode, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestSpecialFilesDoNotOpen(t *testing.T) {
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(t, err)
	defer listener.Close()
	root := openRoot(t, dir, sdk.ReadWrite)
	for _, name := range []string{"pipe", "socket"} {
		for _, flag := range []xsys.Oflag{xsys.O_RDONLY, xsys.O_WRONLY, xsys.O_RDWR, xsys.O_RDONLY | xsys.O_NOFOLLOW} {
			if opened, errno := root.OpenFile(name, flag, 0); errno == 0 {
				_ = opened.Close()
				t.Errorf("%s opened with %v", name, flag)
			}
		}
	}
}

func TestDeviceDoesNotOpen(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mknod(filepath.Join(dir, "null"), syscall.S_IFCHR|0o600, 1<<8|3); err != nil {
		t.Skip("peer not installed: the right to make a device")
	}
	if _, errno := openRoot(t, dir, sdk.ReadWrite).OpenFile("null", xsys.O_RDONLY, 0); errno != xsys.EACCES {
		t.Errorf("errno %v", errno)
	}
}

func TestReadOnlyRootRefusesEveryChange(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600))
	root := openRoot(t, dir, sdk.ReadOnly)
	opened, errno := root.OpenFile("f", xsys.O_RDONLY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer opened.Close()
	tries := map[string]xsys.Errno{
		"mkdir": root.Mkdir("d", 0o700), "chmod": root.Chmod("f", 0o777), "rename": root.Rename("f", "g"),
		"link": root.Link("f", "g"), "rmdir": root.Rmdir("f"), "unlink": root.Unlink("f"),
		"symlink": root.Symlink("f", "g"), "utimens": root.Utimens("f", 0, 0),
		"truncate": opened.Truncate(0), "futimens": opened.Utimens(0, 0),
	}
	for _, flag := range []xsys.Oflag{xsys.O_WRONLY, xsys.O_RDWR, xsys.O_CREAT, xsys.O_TRUNC, xsys.O_APPEND} {
		_, errno := root.OpenFile("f", flag, 0o600)
		tries["open "+flagName(flag)] = errno
	}
	for name, errno := range tries {
		if errno != xsys.EROFS {
			t.Errorf("%s: errno %v", name, errno)
		}
	}
}

func flagName(flag xsys.Oflag) string { return fs.FileMode(flag).String() }

func TestNamesThatAreNoneAreRefused(t *testing.T) {
	root := openRoot(t, t.TempDir(), sdk.ReadWrite)
	for _, name := range []string{"a\x00b", "..\x00/etc/passwd"} {
		if _, errno := root.OpenFile(name, xsys.O_RDWR|xsys.O_CREAT, 0o600); errno != xsys.EINVAL {
			t.Errorf("%q: errno %v", name, errno)
		}
	}
}

func TestTargetOutsideIsNotTold(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Symlink("/home/operator", filepath.Join(dir, "abs")), os.Symlink("../../x", filepath.Join(dir, "rel")))
	root := openRoot(t, dir, sdk.ReadOnly)
	for _, name := range []string{"abs", "rel"} {
		if target, errno := root.Readlink(name); errno != xsys.EPERM {
			t.Errorf("%s leads to %q", name, target)
		}
	}
}

func TestPermissionsKeepNoSpecialBits(t *testing.T) {
	dir := t.TempDir()
	root := openRoot(t, dir, sdk.ReadWrite)
	opened, errno := root.OpenFile("f", xsys.O_RDWR|xsys.O_CREAT, 0o700|fs.ModeSetuid)
	if errno != 0 {
		t.Fatal(errno)
	}
	_ = opened.Close()
	if errno := root.Chmod("f", 0o700|fs.ModeSetuid|fs.ModeSetgid); errno != 0 {
		t.Fatal(errno)
	}
	info, err := os.Stat(filepath.Join(dir, "f"))
	must(t, err)
	if info.Mode() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestFolderReadsFromItsStartAgain(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600), os.Mkdir(filepath.Join(dir, "b"), 0o700))
	folder, errno := openRoot(t, dir, sdk.ReadOnly).OpenFile(".", xsys.O_DIRECTORY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer folder.Close()
	for range 2 {
		dirents, errno := folder.Readdir(-1)
		if errno != 0 || len(dirents) != 2 {
			t.Errorf("%v, errno %v", dirents, errno)
		}
		if _, errno := folder.Seek(0, 0); errno != 0 {
			t.Error(errno)
		}
	}
}

// TestSwappedFolderNeverLeadsOutside opens a path while its folder is swapped for a link to the outside.
func TestSwappedFolderNeverLeadsOutside(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "w")
	must(t,
		os.WriteFile(filepath.Join(outside, "f"), []byte("OUTSIDE"), 0o600),
		os.MkdirAll(filepath.Join(dir, "real"), 0o700),
		os.WriteFile(filepath.Join(dir, "real", "f"), []byte("inside"), 0o600),
		os.Symlink("..", filepath.Join(dir, "link")),
	)
	root := openRoot(t, dir, sdk.ReadOnly)
	ctx := t.Context()
	var swapper sync.WaitGroup
	stop := make(chan struct{})
	swapper.Go(func() { swap(dir, stop) })
	seen := map[string]int{}
	for end := time.Now().Add(time.Second); time.Now().Before(end) && ctx.Err() == nil; {
		seen[readThrough(root, "shown/f")]++
	}
	close(stop)
	swapper.Wait()
	if seen["OUTSIDE"] > 0 || seen["inside"] == 0 {
		t.Errorf("read %v", seen)
	}
	if diff := cmp.Diff("", readThrough(root, "link/f")); diff != "" {
		t.Error(diff)
	}
}

func swap(dir string, stop chan struct{}) {
	at := func(name string) string { return filepath.Join(dir, name) }
	for {
		select {
		case <-stop:
			return
		default:
		}
		for _, name := range []string{"real", "link"} {
			_ = os.Rename(at(name), at("shown"))
			_ = os.Rename(at("shown"), at(name))
		}
	}
}

func readThrough(root *Root, name string) string {
	opened, errno := root.OpenFile(name, xsys.O_RDONLY, 0)
	if errno != 0 {
		return ""
	}
	defer opened.Close()
	text := make([]byte, 16)
	n, _ := opened.Read(text)
	return string(text[:n])
}
