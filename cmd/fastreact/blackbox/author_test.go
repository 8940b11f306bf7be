package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// authored copies the example policy into a Go module of its own, outside this repository, and builds it there.
func authored(t *testing.T) (wasm, digest string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../../examples/policy-only-notes")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	text := "module example.com/only-notes\n\ngo 1.26.0\n\nrequire github.com/fastreact/fastreact v0.0.0\n\n" +
		"replace github.com/fastreact/fastreact => " + root + "\n"
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "plugin", "build", folder).CombinedOutput()
	digest = regexp.MustCompile(`sha256: "([0-9a-f]{64})"`).FindString(string(out))
	if err != nil || digest == "" {
		t.Fatalf("plugin build: %v\n%s", err, out)
	}
	return filepath.Join(folder, "plugin.wasm"), digest
}

func TestPluginOfAnAuthorElsewhereIsBuiltPinnedAndObeyed(t *testing.T) {
	t.Parallel()
	wasm, digest := authored(t)
	model := newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "done"}
		}
		return said{calls: []wish{
			{"call_1", "write_file", `{"path":"run.sh","content":"rm -r ~"}`},
			{"call_2", "write_file", `{"path":"greeting.txt","content":"hello"}`},
		}}
	})
	s := start(t, model, fmt.Sprintf("plugins: {cache_dir: %q, load: [{path: %q, %s}]}\n", cacheDir(t), wasm, digest))
	results := of(s.stream(ask("write", nil)).rest(), "tool_result")
	if len(results) != 2 {
		t.Fatalf("%d results, want 2\n%s", len(results), s.output)
	}
	denied, written := results[0].json(t), results[1].json(t)
	if text := denied["content"].(string); !strings.HasPrefix(text, `[SAFETY_BLOCKED] "run.sh" is no note`) {
		t.Errorf("the script: %q", text)
	}
	if text := written["content"].(string); !strings.HasPrefix(text, "created greeting.txt") {
		t.Errorf("the note: %q", text)
	}
}
