package wasm

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"

	"github.com/fastreact/fastreact/sdk"
)

// layOut makes a folder w for the guest, and beside it what the guest must not reach.
func layOut(t *testing.T) (outside, w string) {
	t.Helper()
	outside = t.TempDir()
	w = filepath.Join(outside, "w")
	err := os.MkdirAll(filepath.Join(w, "sub"), 0o700)
	for _, name := range []string{"secret.txt", "remove.txt", "steal.txt", "truncate.txt"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(outside, name), []byte("OUTSIDE"), 0o600))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(w, "own.txt"), []byte("own"), 0o600))
	for link, target := range map[string]string{
		"../link-outside":    "/etc/hostname",
		"planted-file":       "../secret.txt",
		"planted-file-abs":   filepath.Join(outside, "secret.txt"),
		"planted-dir":        "..",
		"planted-dir-abs":    outside,
		"planted-chain":      "planted-file",
		"planted-proc":       filepath.Join("/proc/self/root", outside),
		"sub/planted-inside": "../own.txt",
	} {
		err = errors.Join(err, os.Symlink(target, filepath.Join(w, link)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return outside, w
}

// list returns what lies outside, with contents and times.
func list(t *testing.T, outside string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(outside)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			found[entry.Name()] = entry.Type().String()
			continue
		}
		text, err := os.ReadFile(filepath.Join(outside, entry.Name()))
		info, statErr := entry.Info()
		if err = errors.Join(err, statErr); err != nil {
			t.Fatal(err)
		}
		found[entry.Name()] = string(text) + info.ModTime().String()
	}
	return found
}

func callTool(t *testing.T, plugin *Plugin, workspace, tool string) sdk.Result {
	t.Helper()
	result, err := plugin.Call(t.Context(), CallContext{Workspace: workspace}, sdk.Call{Tool: tool, Args: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestNoAttemptLeavesTheWorkspace(t *testing.T) {
	outside, w := layOut(t)
	before := list(t, outside)
	result := callTool(t, goAttack(t, sdk.ReadWrite), w, "attack")
	var attempts []struct {
		Name, Detail string
		Reached      bool
	}
	if err := json.Unmarshal(result.Structured, &attempts); err != nil {
		t.Fatal(err)
	}
	if len(attempts) != 26 {
		t.Errorf("%d attempts were made, not 26", len(attempts))
	}
	for _, attempt := range attempts {
		if attempt.Reached {
			t.Errorf("%s reached outside: %s", attempt.Name, attempt.Detail)
		}
	}
	if diff := cmp.Diff(before, list(t, outside)); diff != "" {
		t.Errorf("the outside changed:\n%s", diff)
	}
}

func TestHonestFileWorkSucceeds(t *testing.T) {
	result := callTool(t, goAttack(t, sdk.ReadWrite), t.TempDir(), "work")
	if diff := cmp.Diff(sdk.Result{Content: "done"}, result); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnlyGrantWritesNothing(t *testing.T) {
	dir := t.TempDir()
	if result := callTool(t, goAttack(t, sdk.ReadOnly), dir, "write"); !result.IsError {
		t.Error("the guest wrote")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v (%v)", entries, err)
	}
}

func TestCallWithoutWorkspaceSeesNoFolder(t *testing.T) {
	if result := callTool(t, goAttack(t, sdk.ReadWrite), "", "write"); !result.IsError {
		t.Error("the guest wrote somewhere")
	}
}

// TestAttemptsAreRealOnAPlainMount is the control: the sandbox's own folder mount lets most of them through.
func TestAttemptsAreRealOnAPlainMount(t *testing.T) {
	_, w := layOut(t)
	plugin := goAttack(t, sdk.ReadWrite)
	input, err := encode(sdk.Call{Tool: "attack", Args: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := plainMount(t, plugin, w, input)
	if err != nil {
		t.Fatal(err)
	}
	if reached := strings.Count(string(answer), `"reached":true`); reached < 20 {
		t.Errorf("only %d attempts reach outside through a plain mount", reached)
	}
}

// plainMount calls a tool over the sandbox's own mount of a folder.
func plainMount(t *testing.T, plugin *Plugin, folder string, input []byte) ([]byte, error) {
	t.Helper()
	v := plugin.visit(t.Context(), CallContext{})
	ctx := withVisit(t.Context(), v)
	i := &instance{}
	defer i.close()
	world := toolWorld(ctx).WithFSConfig(wazero.NewFSConfig().WithDirMount(folder, "/w"))
	if err := plugin.engine.start(ctx, i, world, v); err != nil {
		return nil, err
	}
	return i.exchange(ctx, v, sdk.OpCall, input)
}
