package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
)

// writeFile creates or replaces a file and says which it did.
func writeFile(_ context.Context, f folder, args json.RawMessage) (string, error) {
	var given string
	var content *string
	if err := (fields{"path": &given, "content": &content}).read(args); err != nil {
		return "", err
	}
	name, err := file(given)
	switch {
	case err != nil:
		return "", err
	case content == nil:
		return "", errors.New("the argument \"content\" is required")
	case len(*content) > maxWriteBytes:
		return "", fmt.Errorf("the content is larger than %d bytes; write it in parts to several files", maxWriteBytes)
	}
	before, err := f.target(name)
	if err != nil {
		return "", err
	}
	if err := f.replace(name, *content); err != nil {
		return "", err
	}
	if before == nil {
		return fmt.Sprintf("created %s (%s)", name, plural(len(*content), "byte")), nil
	}
	return fmt.Sprintf("replaced %s (%s, before %d)", name, plural(len(*content), "byte"), before.Size()), nil
}

// target looks at what a write would replace: nothing (nil) or a regular file.
func (f folder) target(name string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, trouble(name, err)
	case info.IsDir():
		return nil, fmt.Errorf("%q is a folder and cannot be written as a file", name)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%q is a symbolic link; write to the file it points to", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is neither a file nor a folder", name)
	}
	return info, nil
}

// replace puts content at name in one step: a reader sees the old file or the new one, never half of it. Missing
// parent folders are made.
func (f folder) replace(name, content string) error {
	if dir := path.Dir(name); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return trouble(dir, err)
		}
	}
	scratch, handle, err := f.scratch(path.Dir(name))
	if err != nil {
		return trouble(name, err)
	}
	_, err = handle.WriteString(content)
	if err == nil {
		err = handle.Sync()
	}
	if closed := handle.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.root.Rename(scratch, name)
	}
	if err != nil {
		return errors.Join(trouble(name, err), f.discard(scratch))
	}
	return nil
}

// scratch creates a new file beside the one to be written.
func (f folder) scratch(dir string) (string, *os.File, error) {
	var failed error
	for range 10 {
		name := path.Join(dir, ".write-"+strconv.FormatUint(rand.Uint64(), 36)+".part")
		handle, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return name, handle, nil
		}
		failed = err
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return "", nil, failed
}

// discard removes a scratch file that did not become the real one.
func (f folder) discard(scratch string) error {
	if err := f.root.Remove(scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the unfinished copy %q stays behind", scratch)
	}
	return nil
}
