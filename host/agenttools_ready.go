package host

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The codes of what keeps a tool from working.
const (
	readerFailed     = "plugin_failed"
	snapshotMissing  = "snapshot_missing"
	snapshotTooLarge = "snapshot_too_large"
)

// readPatience bounds how long the catalogue waits for the reader to look at a snapshot.
const readPatience = 2 * time.Second

// obstacle says what keeps a tool of the protocol from working in a workspace: a code, or nothing. A reader that is being
// loaded is no obstacle: calls wait for it, as they do everywhere.
func (s *Server) obstacle(ctx context.Context, workspace, toolID string) string {
	file := snapshots()[0]
	switch toolID {
	case "research.get_state":
		return ""
	case "jobs.get":
		file = snapshots()[1]
	}
	residents := s.serving.Load().residents
	for _, r := range residents {
		if r.profile == AgentTools && r.failed() {
			return readerFailed
		}
	}
	config := s.options.Config
	path := filepath.Join(config.AgentTools.Workspaces[workspace], file.file)
	about, err := os.Lstat(path)
	if err != nil || !about.Mode().IsRegular() {
		return snapshotMissing
	}
	return s.tools.readable.ask(path, about, func() (string, error) {
		ctx, stop := context.WithTimeout(ctx, readPatience)
		defer stop()
		return askReader(ctx, config, workspace, file, residents)
	})
}

// readable remembers what the reader said of each snapshot, for as long as its file stays what it was.
type readable struct {
	mu    sync.Mutex
	known map[string]looked // by the file's path
}

// looked is what the reader said of a file as it was then.
type looked struct {
	size     int64
	modified time.Time
	code     string
}

// ask returns what keeps a file from being read, or nothing. It asks the reader when the file is another one than when it
// was asked last. Where the reader cannot say, nothing is known to stand against it, and nothing is remembered.
func (r *readable) ask(path string, about fs.FileInfo, reader func() (code string, err error)) string {
	r.mu.Lock()
	last, known := r.known[path]
	r.mu.Unlock()
	if known && last.size == about.Size() && last.modified.Equal(about.ModTime()) {
		return last.code
	}
	code, err := reader()
	if err != nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]looked{}
	}
	r.known[path] = looked{about.Size(), about.ModTime(), code}
	return code
}
