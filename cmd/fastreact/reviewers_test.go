package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/build"
)

// reviewed is what a reviewer has on the desk: an old version, a new one with its signature, one that asks for files,
// and configurations that load them.
func reviewed(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	module := func(vector, manifest string) []byte {
		code, err := os.ReadFile("../../testdata/abi/" + vector + ".wasm")
		if err == nil && manifest != "" {
			code, err = build.AppendManifest(code, []byte(manifest))
		}
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	const old = `{"abi":1,"name":"only-notes","version":"1.0.0","kind":"policy","match":{"tools":["write_file","edit_file"]},"limits":{"wall":"500ms"},` +
		`"vectors":[{"name":"a note","op":"evaluate","input":{"tool":"write_file","args":{"path":"a.md"}},"want":{"action":"allow"}}]}`
	later := module("policy-allows", strings.NewReplacer("1.0.0", "1.1.0", `,"edit_file"`, "", "500ms", "2s").Replace(old))
	put("reviewed.wasm", module("policy-allows", old))
	for _, name := range []string{"new.wasm", "new/plugin.wasm", "signed.wasm"} {
		put(name, later)
	}
	put("ungranted.wasm", module("import-files-not-granted", ""))
	put("ungranted.yaml", []byte("plugins: {load: [{path: ungranted.wasm, allow_unpinned: true}]}\n"))
	put("fastreact.yaml", []byte("plugins: {trust: {required: true, keys: [{name: author, public_key_file: author.pub}]}, load: [{path: new.wasm}]}\n"))
	for _, line := range []string{"fastreact plugin keygen --out author", "fastreact plugin sign --key author.key new.wasm"} {
		if out, err := shell(dir, line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return dir
}

func shell(dir, line string) (string, error) {
	command := exec.Command("sh", "-c", line)
	command.Dir = dir
	out, err := command.CombinedOutput()
	return string(out), err
}

var (
	shownCommand = regexp.MustCompile(`(?m)^ +\$ (fastreact [^\n]*?)(?: +# ends with (\d))?$((?:\n    [^ $\n][^\n]*)*)`)
	namedCommand = regexp.MustCompile("`(fastreact plugin [a-z]+ [^`]*(?:\\.wasm|\\.yaml))`")
)

func TestEveryCommandOfTheReviewersWorks(t *testing.T) {
	text, err := os.ReadFile("../../docs/reviewers.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := reviewed(t)
	commands := shownCommand.FindAllStringSubmatch(string(text), -1)
	for _, named := range namedCommand.FindAllStringSubmatch(string(text), -1) {
		commands = append(commands, []string{"", named[1], "", ""})
	}
	if len(commands) < 15 {
		t.Fatalf("only %d commands are shown", len(commands))
	}
	for _, command := range commands {
		out, err := shell(dir, command[1])
		if code, want := exitCode(err), cmp.Or(command[2], "0"); code != want {
			t.Errorf("%s ended with %s, want %s\n%s", command[1], code, want, out)
		}
		for line := range strings.Lines(command[3]) {
			if line = strings.TrimSpace(line); line != "" && !strings.Contains(out, line) {
				t.Errorf("%s does not say %q:\n%s", command[1], line, out)
			}
		}
	}
}

func exitCode(err error) string {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &ended):
		return string(rune('0' + ended.ExitCode()))
	}
	return err.Error()
}
