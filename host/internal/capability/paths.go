package capability

import (
	"io/fs"
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

// change runs a step that writes, unless the root is read-only.
func (r *Root) change(step func() error) xsys.Errno {
	if !r.writable {
		return xsys.EROFS
	}
	return errno(step())
}

// Mkdir implements experimental/sys.FS.
func (r *Root) Mkdir(name string, perm fs.FileMode) xsys.Errno {
	return r.change(func() error { return r.root.Mkdir(inside(name), perm.Perm()) })
}

// Chmod implements experimental/sys.FS. Only the permission bits change.
func (r *Root) Chmod(name string, perm fs.FileMode) xsys.Errno {
	return r.change(func() error { return r.root.Chmod(inside(name), perm.Perm()) })
}

// Rename implements experimental/sys.FS.
func (r *Root) Rename(from, to string) xsys.Errno {
	return r.change(func() error { return r.root.Rename(inside(from), inside(to)) })
}

// Link implements experimental/sys.FS.
func (r *Root) Link(from, to string) xsys.Errno {
	return r.change(func() error { return r.root.Link(inside(from), inside(to)) })
}

// Rmdir implements experimental/sys.FS.
func (r *Root) Rmdir(name string) xsys.Errno {
	return r.change(func() error {
		info, err := r.root.Lstat(inside(name))
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return err
		}
		return r.root.Remove(inside(name))
	})
}

// Unlink implements experimental/sys.FS.
func (r *Root) Unlink(name string) xsys.Errno {
	return r.change(func() error {
		info, err := r.root.Lstat(inside(name))
		if err == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			return err
		}
		return r.root.Remove(inside(name))
	})
}

// Symlink implements experimental/sys.FS. A target that is absolute or leaves the root is refused, so that no program
// on the host follows it later.
func (r *Root) Symlink(target, link string) xsys.Errno {
	if r.writable && leaves(target, link) {
		return xsys.EPERM
	}
	return r.change(func() error { return r.root.Symlink(target, inside(link)) })
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
