package blackbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// authorsWay is a plugin on its way from an empty folder to a running server.
type authorsWay struct {
	t    *testing.T
	home string // what the author has
}

// run runs the program as the author does, in the author's folder, and wants an exit code.
func (w authorsWay) run(code int, args ...string) string {
	w.t.Helper()
	command := exec.Command(binary, args...)
	command.Dir = w.home
	out, err := command.CombinedOutput()
	got := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else if err != nil {
		w.t.Fatal(err)
	}
	if got != code {
		w.t.Fatalf("fastreact %s ended with %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

// edit replaces a text in one of the author's files.
func (w authorsWay) edit(path, old, now string) {
	w.t.Helper()
	file := filepath.Join(w.home, path)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), old) {
		w.t.Fatalf("%s has no %q: %v", path, old, err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, now)), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// judged starts a service that trusts the author's key only, and lets the model write a script and a note.
func (w authorsWay) judged(digest string) (script, note string) {
	w.t.Helper()
	model := newModel(w.t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "done"}
		}
		return said{calls: []wish{
			{"call_1", "write_file", `{"path":"run.sh","content":"rm -r ~"}`},
			{"call_2", "write_file", `{"path":"greeting.md","content":"hello"}`},
		}}
	})
	s := start(w.t, model, fmt.Sprintf("plugins: {cache_dir: %q, lock: %q, trust: {required: true, keys: [{name: author, public_key_file: %q}]}, load: [{path: %q, sha256: %q}]}\n",
		cacheDir(w.t), filepath.Join(w.home, "plugins.lock"), filepath.Join(w.home, "author.pub"), filepath.Join(w.home, "mine", "plugin.wasm"), digest))
	results := of(s.stream(ask("write", nil)).rest(), "tool_result")
	if len(results) != 2 {
		w.t.Fatalf("%d results, want 2\n%s", len(results), s.output)
	}
	return results[0].json(w.t)["content"].(string), results[1].json(w.t)["content"].(string)
}

func TestPluginGoesTheWholeWayFromAnEmptyFolderToADecision(t *testing.T) {
	for _, lang := range []string{"go", "c"} {
		t.Run(lang, func(t *testing.T) {
			if lang == "c" {
				needsClang(t)
			}
			w := authorsWay{t, t.TempDir()}
			w.run(0, "plugin", "new", "--kind", "policy", "--lang", lang, "mine")
			w.run(0, "plugin", "build", "mine")
			w.run(0, "plugin", "test", "mine", "--leak", "--steps", "100", "--hostile")
			w.run(0, "plugin", "bench", "mine", "--count", "20")
			found := regexp.MustCompile(`(?m)^digest +sha256:([0-9a-f]{64})$`).FindStringSubmatch(w.run(0, "plugin", "inspect", "mine/plugin.wasm"))
			if found == nil {
				t.Fatal("inspect shows no digest")
			}
			w.run(0, "plugin", "keygen", "--out", "author")
			w.run(1, "plugin", "verify", "--pub", "author.pub", "mine/plugin.wasm")
			w.run(0, "plugin", "sign", "--key", "author.key", "mine/plugin.wasm")
			w.run(0, "plugin", "verify", "--pub", "author.pub", "mine/plugin.wasm")
			w.run(0, "plugin", "lock", "--lock", "plugins.lock", filepath.Join(w.home, "mine", "plugin.wasm"))
			script, note := w.judged(found[1])
			if !strings.HasPrefix(script, "[SAFETY_BLOCKED] ") || !strings.HasPrefix(note, "created greeting.md") {
				t.Errorf("the script: %q, the note: %q", script, note)
			}
			w.widen(lang)
		})
	}
}

// widen makes another version that judges less, which a diff must say.
func (w authorsWay) widen(lang string) {
	w.t.Helper()
	w.run(0, "plugin", "new", "--kind", "policy", "--lang", lang, "--name", "mine", "later")
	w.edit("later/manifest.json", `"write_file", "edit_file"`, `"write_file"`)
	w.run(0, "plugin", "build", "later")
	if said := w.run(1, "plugin", "diff", "mine", "later"); !strings.Contains(said, "widens   match match.tools") || !strings.Contains(said, "vectors run on both") {
		w.t.Errorf("diff says:\n%s", said)
	}
	w.run(0, "plugin", "diff", "later", "mine")
}

// needsClang skips a test where the programs that compile C are not there; in CI they are.
func needsClang(t *testing.T) {
	t.Helper()
	for _, program := range []string{"clang", "wasm-ld"} {
		if _, err := exec.LookPath(program); err != nil {
			peers.Missing(t, program)
		}
	}
}
