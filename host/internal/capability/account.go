package capability

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	xsys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// errNoSpace is what a guest sees of a full workspace: the sandbox's words have no ENOSPC, and translate every error that
// they lack into this one. The built-in tools say it in a sentence.
const errNoSpace = xsys.EIO

// Account counts what one workspace holds. Every change of it is made while the account is locked, so the count is
// exact as long as nobody but guests changes the folder. A nil Account counts nothing and refuses nothing.
type Account struct {
	dir   string
	limit Quota
	users int // guarded by Quotas.mu

	mu      sync.Mutex
	bytes   int64
	files   int64
	counted time.Time
	open    map[inode]int // how often each file is open
	orphans int           // open files without a name: they hold bytes until they are closed
}

// inode names a file whatever its paths are.
type inode struct{ dev, ino uint64 }

func inodeOf(info fs.FileInfo) (inode, uint64) {
	stat := sys.NewStat_t(info)
	return inode{stat.Dev, uint64(stat.Ino)}, stat.Nlink
}

// Used returns the bytes and files counted now.
func (a *Account) Used() (bytes, files int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bytes, a.files
}

// lock begins a change; the result ends it.
func (a *Account) lock() (unlock func()) {
	if a == nil {
		return func() {}
	}
	a.mu.Lock()
	return a.mu.Unlock
}

// refresh counts when nothing is known, or when what is known is old and nobody else is at work.
func (a *Account) refresh(idle bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.counted.IsZero() && (!idle || time.Since(a.counted) < trustedFor) {
		return nil
	}
	return a.count()
}

// count walks the folder. The account is locked.
func (a *Account) count() error {
	var bytes, files int64
	seen := map[inode]bool{}
	err := filepath.WalkDir(a.dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case path == a.dir:
			return err
		case err != nil:
			return nil // gone meanwhile, or closed to us: then to guests too
		}
		files++
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		if id, names := inodeOf(info); names > 1 {
			if seen[id] {
				return nil
			}
			seen[id] = true
		}
		bytes += info.Size()
		return nil
	})
	if err != nil {
		return err
	}
	a.bytes, a.files, a.counted = bytes, files, time.Now()
	return nil
}

// room reports whether so much more fits. Before it says no it counts again, for somebody may have made room. The
// account is locked.
func (a *Account) room(bytes, files int64) xsys.Errno {
	if a == nil || a.fits(bytes, files) {
		return 0
	}
	if a.orphans == 0 && time.Since(a.counted) > recountAfter && a.count() == nil && a.fits(bytes, files) {
		return 0
	}
	return errNoSpace
}

func (a *Account) fits(bytes, files int64) bool {
	return (bytes <= 0 || a.bytes+bytes <= a.limit.Bytes) && (files <= 0 || a.files+files <= a.limit.Files)
}

// add changes the count. The account is locked.
func (a *Account) add(bytes, files int64) {
	if a != nil {
		a.bytes, a.files = max(0, a.bytes+bytes), max(0, a.files+files)
	}
}

// removed takes a name off the count, and the bytes of its file when that was its last name and nobody has it open.
// The account is locked; info is from before.
func (a *Account) removed(info fs.FileInfo) {
	if a == nil {
		return
	}
	a.add(0, -1)
	id, names := inodeOf(info)
	switch {
	case !info.Mode().IsRegular() || names > 1:
	case a.open[id] > 0:
		a.orphans++
	default:
		a.add(-info.Size(), 0)
	}
}

// opened remembers that a file is open. The account is locked.
func (a *Account) opened(info fs.FileInfo) {
	if a != nil && info.Mode().IsRegular() {
		id, _ := inodeOf(info)
		a.open[id]++
	}
}

// close closes a file, and takes its bytes off the count when it has no name any more.
func (a *Account) close(file *os.File) error {
	if a == nil {
		return file.Close()
	}
	defer a.lock()()
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		id, names := inodeOf(info)
		if a.open[id]--; a.open[id] <= 0 {
			delete(a.open, id)
			if names == 0 {
				a.orphans--
				a.add(-info.Size(), 0)
			}
		}
	}
	return file.Close()
}
