package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is the file system of one call. Paths are absolute, as the shell sees them; use Abs for those that are not. It may
// be used from many goroutines.
type Disk struct {
	root *os.Root

	mu      sync.Mutex
	virtual map[string][]byte // files in memory, by path
	modes   map[string]fs.FileMode
}

// New returns a disk over root, which stays the caller's to close.
func New(root *os.Root) *Disk {
	return &Disk{root: root, virtual: map[string][]byte{}, modes: map[string]fs.FileMode{}}
}

// Base is where the host of this code keeps the folder that is shown as /.
func (d *Disk) Base() string { return d.root.Name() }

// Abs makes a path absolute: what is relative is relative to dir. The name of an empty path is itself.
func Abs(dir, name string) string {
	if name == "" || path.IsAbs(name) {
		return name
	}
	return path.Join(dir, name)
}

// inside returns a path for the root. What climbs above / stays there, as on any system.
func inside(name string) string {
	name = strings.TrimLeft(path.Clean("/"+name), "/")
	if name == "" {
		return "."
	}
	return name
}

// fail gives an error the path that the shell knows, and a system error where the root has none.
func fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var detail *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &detail):
		err = detail.Err
	case errors.As(err, &link):
		err = link.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		err = syscall.EPERM
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

var errEmpty = &fs.PathError{Op: "open", Path: "", Err: syscall.ENOENT}

// Open opens a file or folder for reading.
func (d *Disk) Open(name string) (io.ReadWriteCloser, error) { return d.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file. A folder named /tmp is made when something below it is to be written.
func (d *Disk) OpenFile(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	if name == "" {
		return nil, errEmpty
	}
	if file := d.device(name); file != nil {
		return file, nil
	}
	if flag&os.O_CREATE != 0 {
		d.makeTemp(name)
	}
	if info, err := d.root.Stat(inside(name)); err == nil && info.IsDir() && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return nil, fail("open", name, syscall.EISDIR)
	}
	file, err := d.root.OpenFile(inside(name), flag, perm)
	if err != nil {
		return nil, fail("open", name, err)
	}
	return file, nil
}

func (d *Disk) makeTemp(name string) {
	if strings.HasPrefix(path.Clean(name), TempDir+"/") {
		_ = d.root.Mkdir(inside(TempDir), 0o755) // it is there, or opening the file says what is wrong
	}
}

// TempDir is the folder for files that nobody needs for long. It is a folder of the workspace like any other.
const TempDir = "/tmp"

// Stat follows links.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	if name == "" {
		return nil, errEmpty
	}
	if info := d.deviceInfo(name); info != nil {
		return info, nil
	}
	info, err := d.root.Stat(inside(name))
	if err != nil {
		return nil, fail("stat", name, err)
	}
	return d.described(name, info), nil
}

// Lstat does not follow the last link.
func (d *Disk) Lstat(name string) (fs.FileInfo, error) {
	if name == "" {
		return nil, errEmpty
	}
	if info := d.deviceInfo(name); info != nil {
		return info, nil
	}
	info, err := d.root.Lstat(inside(name))
	if err != nil {
		return nil, fail("lstat", name, err)
	}
	return d.described(name, info), nil
}

// ReadDir returns the entries of a folder in order of their names.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.root.FS(), inside(name))
	return entries, fail("open", name, err)
}

// ReadFile returns the whole of a file.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	file, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	return data, fail("read", name, err)
}

// WriteFile replaces the content of a file, making it when it is not there.
func (d *Disk) WriteFile(name string, data []byte, perm fs.FileMode) error {
	file, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return fail("write", name, errors.Join(err, file.Close()))
}

// Mkdir makes one folder.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	d.makeTemp(name)
	err := d.root.Mkdir(inside(name), perm|0o700)
	if err == nil {
		err = d.Chmod(name, perm)
	}
	return fail("mkdir", name, err)
}

// MkdirAll makes a folder and those above it.
func (d *Disk) MkdirAll(name string, perm fs.FileMode) error {
	return fail("mkdir", name, d.root.MkdirAll(inside(name), perm|0o700))
}

// Remove removes a file or an empty folder.
func (d *Disk) Remove(name string) error {
	if inside(name) == "." {
		return fail("remove", name, syscall.EBUSY)
	}
	return fail("remove", name, d.root.Remove(inside(name)))
}

// Rename moves a file or folder.
func (d *Disk) Rename(from, to string) error {
	if inside(from) == "." || inside(to) == "." {
		return fail("rename", from, syscall.EBUSY)
	}
	d.makeTemp(to)
	err := d.root.Rename(inside(from), inside(to))
	if err == nil {
		d.moved(from, to)
	}
	return fail("rename", from, err)
}

// Link makes a second name for a file.
func (d *Disk) Link(from, to string) error {
	return fail("link", to, d.root.Link(inside(from), inside(to)))
}

// Symlink makes a link. An absolute target becomes a relative one: outside the shell, / is another folder.
func (d *Disk) Symlink(target, name string) error {
	if path.IsAbs(target) {
		target = Relative(path.Dir(path.Clean("/"+name)), path.Clean(target))
	}
	if !fs.ValidPath(path.Join(path.Dir(inside(name)), target)) {
		return fail("symlink", name, syscall.EPERM)
	}
	return fail("symlink", name, d.root.Symlink(target, inside(name)))
}

// Relative returns the way from one absolute folder to another.
func Relative(from, to string) string {
	for from != "/" && to != from && !strings.HasPrefix(to, from+"/") {
		return path.Join("..", Relative(path.Dir(from), to))
	}
	to = strings.TrimPrefix(strings.TrimPrefix(to, from), "/")
	if to == "" {
		return "."
	}
	return to
}

// Readlink returns what a link names. A target outside is not told: it would name a path of the host.
func (d *Disk) Readlink(name string) (string, error) {
	target, err := d.root.Readlink(inside(name))
	if err == nil && (path.IsAbs(target) || !fs.ValidPath(path.Join(path.Dir(inside(name)), target))) {
		return "", fail("readlink", name, syscall.EPERM)
	}
	return target, fail("readlink", name, err)
}

// Chtimes changes the times of a file.
func (d *Disk) Chtimes(name string, accessed, modified time.Time) error {
	return fail("touch", name, d.root.Chtimes(inside(name), accessed, modified))
}

// Truncate cuts or extends a file.
func (d *Disk) Truncate(name string, size int64) error {
	file, err := d.root.OpenFile(inside(name), os.O_WRONLY, 0)
	if err != nil {
		return fail("truncate", name, err)
	}
	return fail("truncate", name, errors.Join(file.Truncate(size), file.Close()))
}
