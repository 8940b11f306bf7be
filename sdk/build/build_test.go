package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

const manifest = `{
  "abi": 1, "name": "outside", "version": "1.0.0", "kind": "policy"
}`

const source = `package main

import (
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type policy struct{}

func (policy) Evaluate(sdk.Question) (sdk.Opinion, error) { return sdk.Opinion{Action: sdk.Allow}, nil }

func init() { guest.ServePolicy(policy{}) }

func main() {}
`

// project writes a plugin with a Go module of its own, outside this one.
func project(t *testing.T, manifest, source string) string {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/outside\n\ngo 1.26.0\n\nrequire github.com/fastreact/fastreact v0.0.0\n\n" +
			"replace github.com/fastreact/fastreact => " + here + "\n",
		"main.go":    source,
		ManifestFile: manifest,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func buildBytes(t *testing.T, dir string) []byte {
	t.Helper()
	path, err := Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func TestSameSourcesGiveTheSameBytesWhereverTheyLie(t *testing.T) {
	first, second := buildBytes(t, project(t, manifest, source)), buildBytes(t, project(t, manifest, source))
	if !bytes.Equal(first, second) {
		t.Error("the modules differ")
	}
	want := `fastreact.manifest{"abi":1,"name":"outside","version":"1.0.0","kind":"policy"}`
	if !bytes.HasSuffix(first, []byte(want)) {
		t.Errorf("the module ends in %q", first[len(first)-100:])
	}
}

func TestBadManifestBuildsNothing(t *testing.T) {
	dir := project(t, strings.Replace(manifest, `"abi": 1`, `"abi": 2`, 1), source)
	if _, err := Dir(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "abi: 2") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, OutputFile)); err == nil {
		t.Error("a module was written")
	}
}

func TestSourceThatDoesNotCompileShowsTheCompilersWords(t *testing.T) {
	dir := project(t, manifest, "package main\n\nfunc main() { undefined() }\n")
	if _, err := Dir(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Error(err)
	}
}

func TestModuleThatServesNothingIsRefused(t *testing.T) {
	dir := project(t, manifest, "package main\n\nfunc main() {}\n")
	if _, err := Dir(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "fastreact_call") {
		t.Error(err)
	}
}

func TestAppendedManifestReplacesTheOldOne(t *testing.T) {
	empty := []byte("\x00asm\x01\x00\x00\x00")
	first, err := AppendManifest(empty, []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	second, err := AppendManifest(first, []byte(strings.Replace(manifest, "1.0.0", "2.0.0", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(second, []byte(sdk.ManifestSection)); n != 1 || !bytes.Contains(second, []byte("2.0.0")) {
		t.Errorf("%d manifests: %q", n, second)
	}
}

func TestWhatIsNoModuleTakesNoManifest(t *testing.T) {
	for _, module := range []string{"", "\x00asm", "\x00asm\x0d\x00\x01\x00", "\x00asm\x01\x00\x00\x00\x01\x7f"} {
		if _, err := AppendManifest([]byte(module), []byte(manifest)); err == nil {
			t.Errorf("%q took one", module)
		}
	}
}
