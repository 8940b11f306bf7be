package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// bounds holds the facts about answers that would be too large.
func bounds() []plugintest.Case {
	return []plugintest.Case{
		{Name: "a large file is cut at a line and says how to go on", Run: cutAtLine},
		{Name: "a long line is cut inside and says so", Run: cutInLine},
		{Name: "a full folder is cut and says so", Run: cutList},
		{Name: "a long matching line is cut", Run: cutMatch},
	}
}

func cutAtLine(t *testing.T, plugin *plugintest.Plugin) {
	text := strings.Repeat(strings.Repeat("é", 49)+"\n", 4000)
	tree{"big.txt": text}.plant(t, plugin.Workspace)
	first := plugin.Call(t, "read_file", `{"path":"big.txt"}`).Content
	body, note, found := strings.Cut(first, "[Cut after line ")
	if !found || !strings.HasPrefix(text, body) || !strings.HasSuffix(body, "\n") {
		t.Fatalf("no cut at a line in %d bytes ending %q", len(first), first[max(0, len(first)-80):])
	}
	var line int
	if _, err := fmt.Sscanf(note, "%d:", &line); err != nil {
		t.Fatalf("note %q: %v", note, err)
	}
	second := plugin.Call(t, "read_file", fmt.Sprintf(`{"path":"big.txt","start_line":%d}`, line+1)).Content
	if body+second != text {
		t.Errorf("the two parts do not make the file: %d + %d bytes, want %d", len(body), len(second), len(text))
	}
}

func cutInLine(t *testing.T, plugin *plugintest.Plugin) {
	tree{"line.txt": "x" + strings.Repeat("é", 200_000)}.plant(t, plugin.Workspace)
	result := plugin.Call(t, "read_file", `{"path":"line.txt"}`)
	if !strings.Contains(result.Content, "é\n[Cut after ") || len(result.Content) > 300_000 {
		t.Errorf("%d bytes ending %q", len(result.Content), result.Content[max(0, len(result.Content)-120):])
	}
}

func cutList(t *testing.T, plugin *plugintest.Plugin) {
	for n := range 1010 {
		if err := os.WriteFile(filepath.Join(plugin.Workspace, fmt.Sprintf("%04d", n)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result := plugin.Call(t, "list_files", `{}`)
	if !strings.Contains(result.Content, "0999 (0 bytes)\n[Cut after 1000 entries;") {
		t.Errorf("content ends %q", result.Content[max(0, len(result.Content)-120):])
	}
}

func cutMatch(t *testing.T, plugin *plugintest.Plugin) {
	tree{"x": "needle" + strings.Repeat("y", 10_000)}.plant(t, plugin.Workspace)
	result := plugin.Call(t, "grep_files", `{"pattern":"needle"}`)
	if len(result.Content) > 500 || !strings.HasSuffix(result.Content, " [line cut]") {
		t.Errorf("%d bytes: %.80q", len(result.Content), result.Content)
	}
}

// links holds the facts about symbolic links, planted by somebody else.
func links() []plugintest.Case {
	return []plugintest.Case{
		{Name: "a link out of the workspace is not read", Run: readThroughLink},
		{Name: "a linked folder outside is not written into", Run: writeThroughLink},
		{Name: "a link is not replaced", Run: replaceLink},
		{Name: "a search does not follow links", Run: searchThroughLink},
	}
}

// secret plants a file outside the workspace and a link to its folder inside.
func secret(t *testing.T, plugin *plugintest.Plugin) string {
	t.Helper()
	outside := t.TempDir()
	tree{"secret.txt": "canary"}.plant(t, outside)
	if err := os.Symlink(outside, filepath.Join(plugin.Workspace, "out")); err != nil {
		t.Fatal(err)
	}
	return outside
}

func readThroughLink(t *testing.T, plugin *plugintest.Plugin) {
	secret(t, plugin)
	result := plugin.Call(t, "read_file", `{"path":"out/secret.txt"}`)
	if !result.IsError || strings.Contains(result.Content, "canary") {
		t.Errorf("result = %+v", result)
	}
}

func writeThroughLink(t *testing.T, plugin *plugintest.Plugin) {
	outside := secret(t, plugin)
	result := plugin.Call(t, "write_file", `{"path":"out/new.txt","content":"x"}`)
	if !result.IsError {
		t.Errorf("result = %+v", result)
	}
	if _, err := os.Stat(filepath.Join(outside, "new.txt")); err == nil {
		t.Error("a file was written outside the workspace")
	}
}

func replaceLink(t *testing.T, plugin *plugintest.Plugin) {
	outside := secret(t, plugin)
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(plugin.Workspace, "s")); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]any{
		"write_file": map[string]string{"path": "s", "content": "x"},
		"edit_file":  map[string]string{"path": "s", "old_text": "canary", "new_text": "x"},
	} {
		encoded, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if result := plugin.Call(t, tool, string(encoded)); !result.IsError {
			t.Errorf("%s: %+v", tool, result)
		}
	}
	tree{"secret.txt": "canary"}.compare(t, outside)
}

func searchThroughLink(t *testing.T, plugin *plugintest.Plugin) {
	secret(t, plugin)
	result := plugin.Call(t, "grep_files", `{"pattern":"canary"}`)
	if strings.Contains(result.Content, "secret.txt") {
		t.Errorf("content = %q", result.Content)
	}
	if listed := plugin.Call(t, "list_files", `{"recursive":true}`); listed.Content != "link   out" {
		t.Errorf("list = %q", listed.Content)
	}
}
