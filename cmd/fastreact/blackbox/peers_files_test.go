package blackbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestServerFilesystemThroughTheGate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "a.txt")
	if err := os.WriteFile(file, []byte("line one\r\nline two \u00e9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := startPeers(t, "policy: {default_action: allow, tool_rules: {fs_write_file: deny}}\n",
		peer{name: "fs", program: []string{npmPeer(t, "mcp-server-filesystem"), folder}})
	if names := s.tools("fs"); len(names) != 14 {
		t.Errorf("tools %v", names)
	}
	read := s.call("fs_read_text_file", map[string]any{"path": file})
	if read.text != "line one\r\nline two \u00e9\n" {
		t.Errorf("read %q", read.text)
	}
	s.call("fs_read_text_file", map[string]any{"path": "/etc/passwd"}).demand(t, true, "Access denied")
	s.denied(s.call("fs_write_file", map[string]any{"path": filepath.Join(folder, "b.txt"), "content": "x"}), "fs", "write_file")
	if _, err := os.Stat(filepath.Join(folder, "b.txt")); !os.IsNotExist(err) {
		t.Errorf("the denied file: %v", err)
	}
}

func TestServerMemoryThroughTheGate(t *testing.T) {
	t.Parallel()
	s, _ := startPeers(t, "policy: {default_action: allow, tool_rules: {delete_entities: deny}}\n",
		peer{name: "memory", program: []string{npmPeer(t, "mcp-server-memory")}, env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.json")}})
	if names := s.tools("memory"); len(names) != 9 {
		t.Errorf("tools %v", names)
	}
	ada := map[string]any{"name": "Ada", "entityType": "person", "observations": []string{"likes tea"}}
	s.call("memory_create_entities", map[string]any{"entities": []any{ada}}).demand(t, false, "likes tea")
	s.call("memory_add_observations", map[string]any{"observations": []any{map[string]any{"entityName": "Nobody", "contents": []string{"x"}}}}).demand(t, true, "not found")
	s.denied(s.call("memory_delete_entities", map[string]any{"entityNames": []string{"Ada"}}), "memory", "delete_entities")
	s.call("memory_open_nodes", map[string]any{"names": []string{"Ada"}}).demand(t, false, "likes tea")
}

func TestServerSequentialThinkingThroughTheGate(t *testing.T) {
	t.Parallel()
	thought := map[string]any{"thought": "a", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}
	thinking := peer{name: "think", program: []string{npmPeer(t, "mcp-server-sequential-thinking")}}
	s, _ := startPeers(t, "policy: {default_action: allow}\n", thinking)
	if names := s.tools("think"); len(names) != 1 {
		t.Errorf("tools %v", names)
	}
	s.call("think_sequentialthinking", thought).demand(t, false, `"thoughtHistoryLength": 1`)
	s.call("think_sequentialthinking", map[string]any{"thought": 7, "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}).demand(t, true, "")

	s, _ = startPeers(t, "policy: {default_action: deny}\n", thinking)
	s.denied(s.call("think_sequentialthinking", thought), "think", "sequentialthinking")
}
