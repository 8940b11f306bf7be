package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/fastreact/fastreact/plugins/shell/disk"
)

// Func is one utility. It returns its exit status.
type Func func(ctx context.Context, c *Call) int

// Table finds utilities by name.
type Table map[string]Func

// Runner runs another command for a utility such as xargs, with the call's streams, and returns its exit status.
type Runner func(ctx context.Context, c *Call, words []string) int

// Call is one run of a utility. One goroutine uses it.
type Call struct {
	Name string   // as it was called
	Args []string // without the name
	In   io.Reader
	Out  *bufio.Writer // flushed by whoever made the call
	Err  io.Writer
	Dir  string // the current folder, absolute
	Disk *disk.Disk
	Env  []string // exported variables, NAME=value, in order of names
	Run  Runner
}

// Path makes a path of the arguments absolute.
func (c *Call) Path(name string) string { return disk.Abs(c.Dir, name) }

// Getenv returns an exported variable, or nothing.
func (c *Call) Getenv(name string) string {
	for _, entry := range c.Env {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

// Fail writes a message under the utility's name and returns status 1.
func (c *Call) Fail(format string, args ...any) int {
	_ = c.Out.Flush() // so that messages stand where they belong
	fmt.Fprintf(c.Err, "%s: %s\n", c.Name, fmt.Sprintf(format, args...))
	return 1
}

// Trouble reports an error about a path and returns status 1.
func (c *Call) Trouble(name string, err error) int {
	return c.Fail("%s: %s", name, Reason(err))
}

// Usage reports a wrong call and returns status 2.
func (c *Call) Usage(err error) int {
	c.Fail("%v", err)
	return 2
}

// Reason says what is wrong with a file in the words of other systems, without its path.
func Reason(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{syscall.ENOENT, "No such file or directory"},
		{syscall.EISDIR, "Is a directory"},
		{syscall.ENOTDIR, "Not a directory"},
		{syscall.EEXIST, "File exists"},
		{syscall.ENOTEMPTY, "Directory not empty"},
		{syscall.ENOSPC, "No space left on device (the workspace is full)"},
		{syscall.EIO, "No space left on device (the workspace is full)"}, // all that a sandbox is told
		{syscall.EDQUOT, "No space left on device (the workspace is full)"},
		{syscall.EROFS, "Read-only file system"},
		{syscall.EPERM, "Operation not permitted (it leads outside the workspace)"},
		{syscall.EACCES, "Permission denied"},
		{syscall.ELOOP, "Too many levels of symbolic links"},
		{syscall.ENAMETOOLONG, "File name too long"},
		{syscall.EBUSY, "Device or resource busy"},
		{syscall.EPIPE, "Broken pipe"},
		{fs.ErrNotExist, "No such file or directory"},
		{fs.ErrExist, "File exists"},
		{io.ErrClosedPipe, "Broken pipe"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	var detail *fs.PathError
	if errors.As(err, &detail) {
		err = detail.Err
	}
	return err.Error()
}

// Open opens an input for reading: - is the standard input. A folder is refused.
func (c *Call) Open(name string) (io.ReadCloser, error) {
	if name == "-" || name == "/dev/stdin" || name == "/dev/fd/0" {
		return io.NopCloser(c.In), nil
	}
	full := c.Path(name)
	info, err := c.Disk.Stat(full)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: full, Err: syscall.EISDIR}
	}
	return c.Disk.Open(full)
}

// Create opens an output for writing, emptied first.
func (c *Call) Create(name string) (io.WriteCloser, error) {
	return c.Append(name, os.O_TRUNC)
}

// Append opens an output for writing with more flags: os.O_TRUNC or os.O_APPEND.
func (c *Call) Append(name string, flag int) (io.WriteCloser, error) {
	switch name {
	case "/dev/stdout":
		return keptOpen{c.Out}, nil
	case "/dev/stderr":
		return keptOpen{c.Err}, nil
	}
	return c.Disk.OpenFile(c.Path(name), os.O_WRONLY|os.O_CREATE|flag, 0o644)
}

type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// Each opens the named inputs one after the other, or the standard input when there is none, and hands them to read. It
// returns 1 when one of them failed, else 0.
func (c *Call) Each(names []string, read func(name string, input io.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	status := 0
	for _, name := range names {
		input, err := c.Open(name)
		if err == nil {
			err = errors.Join(read(name, input), input.Close())
		}
		if errors.Is(err, ErrStop) {
			return status
		}
		if err != nil {
			status = c.Trouble(name, err)
		}
	}
	return status
}

// ErrStop ends Each without a message: the output is closed, or enough was read.
var ErrStop = errors.New("enough")

// Named returns a call with the same world for other words.
func (c *Call) Named(name string, args []string) *Call {
	other := *c
	other.Name, other.Args = name, args
	return &other
}
