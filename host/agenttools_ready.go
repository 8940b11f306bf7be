package host

import (
	"context"
	"os"
	"path/filepath"
)

// The files of a workspace.
const (
	coreSnapshot = "core-snapshot.json"
	jobsSnapshot = "jobs-snapshot.json"
)

// The codes of what keeps a tool from working.
const (
	readerFailed    = "plugin_failed"
	snapshotMissing = "snapshot_missing"
)

// obstacle says what keeps a tool of the protocol from working in a workspace: a code, or nothing. A reader that is being
// loaded is no obstacle: calls wait for it, as they do everywhere.
func (s *Server) obstacle(_ context.Context, workspace, toolID string) string {
	file := coreSnapshot
	switch toolID {
	case "research.get_state":
		return ""
	case "jobs.get":
		file = jobsSnapshot
	}
	for _, r := range s.serving.Load().residents {
		if r.profile == AgentTools && r.failed() {
			return readerFailed
		}
	}
	folder := s.options.Config.AgentTools.Workspaces[workspace]
	if about, err := os.Stat(filepath.Join(folder, file)); err != nil || !about.Mode().IsRegular() {
		return snapshotMissing
	}
	return ""
}
