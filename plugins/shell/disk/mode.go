package disk

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Permission bits do not exist inside a sandbox: the host decides who may read and write. What chmod sets is remembered
// for the rest of the call, so that scripts which set and test it go on.

// Chmod remembers permission bits.
func (d *Disk) Chmod(name string, mode fs.FileMode) error {
	if _, err := d.Stat(name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.modes[path.Clean(name)] = mode.Perm()
	return nil
}

// described gives a file the permission bits that the shell knows it by.
func (d *Disk) described(name string, info fs.FileInfo) fs.FileInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	perm, known := d.modes[path.Clean(name)]
	switch {
	case known:
	case info.IsDir():
		perm = 0o755
	case info.Mode()&fs.ModeSymlink != 0:
		perm = 0o777
	default:
		perm = 0o644
	}
	return described{info, info.Mode()&^fs.ModePerm | perm}
}

type described struct {
	fs.FileInfo
	mode fs.FileMode
}

func (i described) Mode() fs.FileMode { return i.mode }

// moved takes the remembered bits along to a new name.
func (d *Disk) moved(from, to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, to = path.Clean(from), path.Clean(to)
	delete(d.modes, to)
	if mode, known := d.modes[from]; known {
		d.modes[to] = mode
		delete(d.modes, from)
	}
}

// Same reports whether two descriptions are of one file.
func Same(a, b fs.FileInfo) bool {
	bare := func(info fs.FileInfo) fs.FileInfo {
		if d, is := info.(described); is {
			return d.FileInfo
		}
		return info
	}
	return os.SameFile(bare(a), bare(b))
}

// Executable reports whether a file counts as a program: somebody set the bit during this call, or it begins with #!.
func (d *Disk) Executable(name string) bool {
	info, err := d.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode()&0o111 != 0 {
		return true
	}
	file, err := d.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(file, head)
	return err == nil && strings.HasPrefix(string(head), "#!")
}
