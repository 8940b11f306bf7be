package capability

import (
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	xsys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// Lstat implements experimental/sys.FS.
func (r *Root) Lstat(name string) (sys.Stat_t, xsys.Errno) { return stat(r.root.Lstat(inside(name))) }

// Stat implements experimental/sys.FS.
func (r *Root) Stat(name string) (sys.Stat_t, xsys.Errno) { return stat(r.root.Stat(inside(name))) }

func stat(info fs.FileInfo, err error) (sys.Stat_t, xsys.Errno) {
	if err != nil {
		return sys.Stat_t{}, errno(err)
	}
	return sys.NewStat_t(info), 0
}

// change runs a step that writes, unless the root is read-only. The account is locked meanwhile.
func (r *Root) change(step func() error) xsys.Errno {
	if !r.writable {
		return xsys.EROFS
	}
	defer r.account.lock()()
	return errno(step())
}

// make runs a step that makes one more file, folder or link.
func (r *Root) make(step func() error) xsys.Errno {
	return r.change(func() error {
		if full := r.account.room(0, 1); full != 0 {
			return full
		}
		err := step()
		if err == nil {
			r.account.add(0, 1)
		}
		return err
	})
}

// Mkdir implements experimental/sys.FS.
func (r *Root) Mkdir(name string, perm fs.FileMode) xsys.Errno {
	return r.make(func() error { return r.root.Mkdir(inside(name), perm.Perm()) })
}

// Chmod implements experimental/sys.FS. Only the permission bits change.
func (r *Root) Chmod(name string, perm fs.FileMode) xsys.Errno {
	return r.change(func() error { return r.root.Chmod(inside(name), perm.Perm()) })
}

// Rename implements experimental/sys.FS.
func (r *Root) Rename(from, to string) xsys.Errno {
	return r.change(func() error {
		source, _ := r.root.Lstat(inside(from))
		target, gone := r.root.Lstat(inside(to))
		err := r.root.Rename(inside(from), inside(to))
		if err == nil && gone == nil && !os.SameFile(source, target) {
			r.account.removed(target)
		}
		return err
	})
}

// Link implements experimental/sys.FS.
func (r *Root) Link(from, to string) xsys.Errno {
	return r.make(func() error { return r.root.Link(inside(from), inside(to)) })
}

// Rmdir implements experimental/sys.FS.
func (r *Root) Rmdir(name string) xsys.Errno {
	return r.change(func() error {
		info, err := r.root.Lstat(inside(name))
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err == nil {
			err = r.root.Remove(inside(name))
		}
		if err == nil {
			r.account.removed(info)
		}
		return err
	})
}

// Unlink implements experimental/sys.FS.
func (r *Root) Unlink(name string) xsys.Errno {
	return r.change(func() error {
		info, err := r.root.Lstat(inside(name))
		if err == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err == nil {
			err = r.root.Remove(inside(name))
		}
		if err == nil {
			r.account.removed(info)
		}
		return err
	})
}

// Symlink implements experimental/sys.FS. A target that is absolute or leaves the root is refused, so that no program
// on the host follows it later.
func (r *Root) Symlink(target, link string) xsys.Errno {
	if r.writable && leaves(target, link) {
		return xsys.EPERM
	}
	return r.make(func() error { return r.root.Symlink(target, inside(link)) })
}

// Readlink implements experimental/sys.FS. A target outside is not told: it would name a path of the host.
func (r *Root) Readlink(name string) (string, xsys.Errno) {
	target, err := r.root.Readlink(inside(name))
	if err != nil {
		return "", errno(err)
	}
	if leaves(target, name) {
		return "", xsys.EPERM
	}
	return target, 0
}

func leaves(target, link string) bool {
	return path.IsAbs(target) || !fs.ValidPath(path.Join(path.Dir(inside(link)), target))
}

// Utimens implements experimental/sys.FS.
func (r *Root) Utimens(name string, atim, mtim int64) xsys.Errno {
	return r.change(func() error { return r.root.Chtimes(inside(name), moment(atim), moment(mtim)) })
}

// moment returns the zero time, which changes nothing, for a time that the guest left out.
func moment(ns int64) time.Time {
	if ns == xsys.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
