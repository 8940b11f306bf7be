package capability

import (
	"errors"
	"io"
	"os"

	xsys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// file is one open file or folder of a guest.
type file struct {
	xsys.UnimplementedFile
	file    *os.File
	root    *Root
	name    string // as it was opened, relative to the root
	folder  bool
	appends bool
}

func (f *file) Stat() (sys.Stat_t, xsys.Errno) { return stat(f.file.Stat()) }

func (f *file) Dev() (uint64, xsys.Errno) {
	info, err := f.Stat()
	return info.Dev, err
}

func (f *file) Ino() (sys.Inode, xsys.Errno) {
	info, err := f.Stat()
	return info.Ino, err
}

func (f *file) IsDir() (bool, xsys.Errno) { return f.folder, 0 }

func (f *file) IsAppend() bool { return f.appends }

// SetAppend cannot change how a file was opened.
func (f *file) SetAppend(enable bool) xsys.Errno {
	if enable == f.appends {
		return 0
	}
	return xsys.ENOSYS
}

func (f *file) Read(buf []byte) (int, xsys.Errno) {
	return f.transfer(func() (int, error) { return f.file.Read(buf) })
}

func (f *file) Pread(buf []byte, off int64) (int, xsys.Errno) {
	return f.transfer(func() (int, error) { return f.file.ReadAt(buf, off) })
}

func (f *file) Write(buf []byte) (int, xsys.Errno) {
	return f.transfer(func() (int, error) {
		return f.grow(len(buf), f.position, func() (int, error) { return f.file.Write(buf) })
	})
}

func (f *file) Pwrite(buf []byte, off int64) (int, xsys.Errno) {
	return f.transfer(func() (int, error) {
		at := func() (int64, error) { return off, nil }
		return f.grow(len(buf), at, func() (int, error) { return f.file.WriteAt(buf, off) })
	})
}

// position is where the next write goes.
func (f *file) position() (int64, error) {
	if f.appends {
		info, err := f.file.Stat()
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	return f.file.Seek(0, io.SeekCurrent)
}

// grow runs a write of n bytes at a position, if the account has room for what it adds to the file.
func (f *file) grow(n int, position func() (int64, error), write func() (int, error)) (int, error) {
	account := f.root.account
	if account == nil || f.folder {
		return write()
	}
	defer account.lock()()
	at, err := position()
	if err != nil {
		return 0, err
	}
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	if full := account.room(at+int64(n)-info.Size(), 0); full != 0 {
		return 0, full
	}
	written, err := write()
	if end := at + int64(written); written > 0 && end > info.Size() {
		account.add(end-info.Size(), 0)
	}
	return written, err
}

func (f *file) transfer(step func() (int, error)) (int, xsys.Errno) {
	if f.folder {
		return 0, xsys.EISDIR
	}
	n, err := step()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, errno(err)
}

// place is an int64 by another name: the sandbox's Seek answers with its own error numbers, and go vet would take it
// for a mistaken io.Seeker.
type place = int64

// Seek moves in a file. In a folder it can only go back to the start.
func (f *file) Seek(offset place, whence int) (int64, xsys.Errno) {
	if f.folder && (offset != 0 || whence != io.SeekStart) {
		return 0, xsys.EISDIR
	}
	at, err := f.file.Seek(offset, whence)
	return at, errno(err)
}

// Readdir leaves out inode numbers: asking for them by path could follow a link that was put there meanwhile.
func (f *file) Readdir(n int) ([]xsys.Dirent, xsys.Errno) {
	if !f.folder {
		return nil, xsys.ENOTDIR
	}
	entries, err := f.file.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	dirents := make([]xsys.Dirent, 0, len(entries))
	for _, entry := range entries {
		dirents = append(dirents, xsys.Dirent{Name: entry.Name(), Type: entry.Type()})
	}
	return dirents, errno(err)
}

func (f *file) Truncate(size int64) xsys.Errno {
	return f.root.change(func() error {
		info, err := f.file.Stat()
		if err != nil {
			return err
		}
		if full := f.root.account.room(size-info.Size(), 0); full != 0 {
			return full
		}
		if err := f.file.Truncate(size); err != nil {
			return err
		}
		f.root.account.add(size-info.Size(), 0)
		return nil
	})
}

func (f *file) Sync() xsys.Errno { return errno(f.file.Sync()) }

func (f *file) Datasync() xsys.Errno { return errno(f.file.Sync()) }

func (f *file) Utimens(atim, mtim int64) xsys.Errno { return f.root.Utimens(f.name, atim, mtim) }

func (f *file) Close() xsys.Errno { return errno(f.root.account.close(f.file)) }
