package capability

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	xsys "github.com/tetratelabs/wazero/experimental/sys"

	"github.com/fastreact/fastreact/sdk"
)

// Root is a file system for guests, bound to one folder through os.Root. It may be used from many goroutines; the
// files it opens may not. Close it after the last file.
type Root struct {
	xsys.UnimplementedFS
	root     *os.Root
	writable bool
	account  *Account // nil: nothing is counted
}

var _ xsys.FS = (*Root)(nil)

// OpenRoot opens dir for a guest. The folder itself may be reached through a link; nothing below it may leave it. What
// the guest changes is counted in account, unless that is nil; beyond its quota writes fail with ENOSPC.
func OpenRoot(dir string, mode sdk.FileMode, account *Account) (*Root, error) {
	if mode != sdk.ReadOnly && mode != sdk.ReadWrite {
		return nil, fmt.Errorf("open files: mode %q is neither ro nor rw", mode)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	return &Root{root: root, writable: mode == sdk.ReadWrite, account: account}, nil
}

// Close frees the folder. Files that are open stay usable.
func (r *Root) Close() error { return r.root.Close() }

// inside returns a guest's path relative to the root. What climbs above the root lexically stays at the root; what
// climbs through links is refused by os.Root.
func inside(name string) string {
	name = strings.TrimLeft(path.Clean("/"+name), "/")
	if name == "" {
		return "."
	}
	return name
}

// errno translates an error for the guest. An escape has no system error: it is not permitted.
func errno(err error) xsys.Errno {
	var number syscall.Errno
	var own xsys.Errno
	switch {
	case errors.As(err, &own):
		return own
	case err == nil:
		return 0
	case errors.As(err, &number):
		return xsys.UnwrapOSError(number)
	case errors.Is(err, fs.ErrNotExist):
		return xsys.ENOENT
	case errors.Is(err, fs.ErrExist):
		return xsys.EEXIST
	case errors.Is(err, fs.ErrClosed):
		return xsys.EBADF
	case errors.Is(err, fs.ErrInvalid):
		return xsys.EINVAL
	}
	return xsys.EPERM
}
