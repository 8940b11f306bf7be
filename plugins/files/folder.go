package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// folder is the root every path is looked up in.
type folder struct {
	root *os.Root
}

var (
	errOutside = errors.New("leads outside the workspace; give a path inside it")
	errBinary  = errors.New("is a binary file; only text files can be read or edited here")
)

// clean turns a path as models write them into one relative to the root: "/a/b", "./a//b" and "a/b" are the same
// file. A path that climbs out of the root on its way is refused even when it comes back.
func clean(given string) (string, error) {
	switch {
	case strings.ContainsRune(given, 0):
		return "", errors.New("the path contains a NUL character; remove it")
	case len(given) > maxPathBytes:
		return "", fmt.Errorf("the path is longer than %d bytes", maxPathBytes)
	}
	depth := 0
	for _, part := range strings.Split(given, "/") {
		switch part {
		case "", ".":
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return "", fmt.Errorf("%q %w", given, errOutside)
		}
	}
	return strings.TrimPrefix(path.Clean("/"+given), "/"), nil
}

// file cleans a path that must name something other than the root itself.
func file(given string) (string, error) {
	if strings.TrimSpace(given) == "" {
		return "", errors.New("the argument \"path\" is required")
	}
	name, err := clean(given)
	if err == nil && name == "" {
		return "", fmt.Errorf("%q is the workspace folder, not a file", given)
	}
	return name, err
}

// dir cleans a path that may name the root, which os.Root calls ".".
func dir(given string) (string, error) {
	name, err := clean(given)
	if name == "" {
		name = "."
	}
	return name, err
}

// text reads the whole of a text file of at most limit bytes.
func (f folder) text(name string, limit int64) (string, error) {
	handle, err := f.openFile(name)
	if err != nil {
		return "", err
	}
	defer handle.Close()
	data, err := io.ReadAll(io.LimitReader(handle, limit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%q could not be read: %w", name, err)
	case int64(len(data)) > limit:
		return "", fmt.Errorf("%q is larger than %d bytes", name, limit)
	case isBinary(data):
		return "", fmt.Errorf("%q %w", name, errBinary)
	}
	return string(data), nil
}

// openFile opens a regular file for reading. Pipes and devices are refused before they are opened: they may block.
func (f folder) openFile(name string) (*os.File, error) {
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, trouble(name, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%q is a folder; use list_files to see what is in it", name)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is neither a file nor a folder", name)
	}
	handle, err := f.root.Open(name)
	if err != nil {
		return nil, trouble(name, err)
	}
	return handle, nil
}

// trouble turns what the system says about a path into a sentence without its jargon.
func trouble(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%q does not exist; use list_files or glob_files to see what does", name)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%q cannot be changed: the workspace is read-only", name)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO): // EIO is all that a sandbox is told
		return fmt.Errorf("%q cannot be written: the workspace is full; remove or shorten other files first", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q may not be touched: permission denied", name)
	case strings.Contains(err.Error(), "escapes"):
		return fmt.Errorf("%q %w", name, errOutside)
	}
	var detail *fs.PathError
	if errors.As(err, &detail) {
		err = detail.Err
	}
	return fmt.Errorf("%q could not be used: %w", name, err)
}

// sentence writes an error as the model reads it.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
