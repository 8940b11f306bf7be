package capability

import (
	"io/fs"
	"os"
	"syscall"

	xsys "github.com/tetratelabs/wazero/experimental/sys"
)

const changes = xsys.O_RDWR | xsys.O_WRONLY | xsys.O_APPEND | xsys.O_CREAT | xsys.O_TRUNC

// OpenFile implements experimental/sys.FS. Only regular files and folders open: no device, pipe or socket.
func (r *Root) OpenFile(name string, flag xsys.Oflag, perm fs.FileMode) (xsys.File, xsys.Errno) {
	if !r.writable && flag&changes != 0 {
		return nil, xsys.EROFS
	}
	name = inside(name)
	if flag&xsys.O_NOFOLLOW == 0 {
		// Merely opening a device can have effects, so look before, and again at what was opened.
		if info, err := r.root.Stat(name); err == nil && !ordinary(info) {
			return nil, xsys.EACCES
		}
	}
	opened, info, failed := r.open(name, flag, perm)
	if failed != 0 {
		return nil, failed
	}
	return &file{file: opened, root: r, name: name, folder: info.IsDir(), appends: flag&xsys.O_APPEND != 0}, 0
}

// open opens a file and counts what that makes or empties.
func (r *Root) open(name string, flag xsys.Oflag, perm fs.FileMode) (*os.File, fs.FileInfo, xsys.Errno) {
	defer r.account.lock()()
	before, err := r.root.Stat(name)
	creates := err != nil && flag&xsys.O_CREAT != 0
	if creates {
		if full := r.account.room(0, 1); full != 0 {
			return nil, nil, full
		}
	}
	opened, err := r.root.OpenFile(name, systemFlags(flag), perm.Perm())
	if err != nil {
		return nil, nil, errno(err)
	}
	switch {
	case creates:
		r.account.add(0, 1)
	case before != nil && flag&xsys.O_TRUNC != 0 && before.Mode().IsRegular():
		r.account.add(-before.Size(), 0)
	}
	info, err := opened.Stat()
	if err != nil || !ordinary(info) {
		_ = opened.Close()
		return nil, nil, xsys.EACCES
	}
	r.account.opened(info)
	return opened, info, 0
}

func ordinary(info fs.FileInfo) bool { return info.Mode().IsRegular() || info.IsDir() }

// systemFlags never lets an open wait, for a pipe's other end, say.
func systemFlags(flag xsys.Oflag) int {
	system := syscall.O_NONBLOCK | syscall.O_NOCTTY
	switch {
	case flag&xsys.O_RDWR != 0:
		system |= os.O_RDWR
	case flag&xsys.O_WRONLY != 0:
		system |= os.O_WRONLY
	}
	for _, pair := range []struct {
		guest xsys.Oflag
		host  int
	}{
		{xsys.O_APPEND, os.O_APPEND},
		{xsys.O_CREAT, os.O_CREATE},
		{xsys.O_EXCL, os.O_EXCL},
		{xsys.O_TRUNC, os.O_TRUNC},
		{xsys.O_DIRECTORY, syscall.O_DIRECTORY},
		{xsys.O_NOFOLLOW, syscall.O_NOFOLLOW},
		{xsys.O_SYNC, os.O_SYNC},
	} {
		if flag&pair.guest != 0 {
			system |= pair.host
		}
	}
	return system
}
