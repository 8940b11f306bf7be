package investigation

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// The two files of a workspace.
const (
	coreName = "core-snapshot.json"
	jobsName = "jobs-snapshot.json"
)

// folder is the workspace of one call.
type folder struct {
	root *os.Root
}

// read returns the whole text of a snapshot of at most limit bytes. A link, a pipe or a device in its place is refused
// before it is opened: opening might wait, or lead elsewhere.
func (f folder) read(name string, limit int64) ([]byte, error) {
	info, err := f.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, snapshotMissing
	case err != nil || !info.Mode().IsRegular():
		return nil, snapshotInvalid
	case info.Size() > limit:
		return nil, snapshotTooLarge
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, snapshotInvalid
	}
	defer file.Close()
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // in one piece, unless the file grows
	_, err = text.ReadFrom(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, snapshotInvalid
	case int64(text.Len()) > limit:
		return nil, snapshotTooLarge
	}
	return text.Bytes(), checkText(text.Bytes())
}
