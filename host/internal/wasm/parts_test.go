package wasm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

// folder makes a folder with the module of testdata/extism, its manifest, and an Extism manifest file.
func folder(t *testing.T, extism string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join("..", "..", "..", "testdata", "extism")
	for name, content := range map[string][]byte{
		"plugin.wasm": file(t, source, "shapes.wasm"), "ours.json": file(t, source, "shapes.json"), "plugin.json": []byte(extism),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir string) ([]byte, error) {
	t.Helper()
	return ReadPlugin(filepath.Join(dir, "plugin.json"), filepath.Join(dir, "ours.json"), 0)
}

func TestExtismManifestFileAsksAndDoesNotGrant(t *testing.T) {
	dir := folder(t, `{
		"wasm": [{"path": "plugin.wasm", "hash": "`+hexDigest(file(t, "..", "..", "..", "testdata", "extism", "shapes.wasm"))+`"}],
		"allowed_paths": {"/home/author/data": "data", "ro:/etc": "/etc"}, "allowed_hosts": ["*"],
		"memory": {"max_pages": 8}, "timeout_ms": 150, "config": {"greeting": "hello"}
	}`)
	module, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	inspection, err := Inspect(module)
	if err != nil {
		t.Fatal(err)
	}
	want := sdk.Capabilities{Files: []sdk.FileAccess{{At: "/data", Mode: sdk.ReadWrite}, {At: "/etc", Mode: sdk.ReadOnly}}}
	if diff := cmp.Diff(want, inspection.Requested); diff != "" {
		t.Error(diff)
	}
	plugin := load(t, newHost(t, Config{}), Module{Bytes: module})
	if limits := plugin.Limits(); limits.MemoryPages != 8 || limits.Wall != sdk.Duration(150*time.Millisecond) {
		t.Errorf("limits %+v", limits)
	}
	if len(plugin.mounts) != 0 {
		t.Errorf("granted %v", plugin.mounts)
	}
}

func TestEntrysConfigStandsOverTheExtismManifests(t *testing.T) {
	dir := folder(t, `{"wasm":[{"path":"plugin.wasm"}],"config":{"a":"theirs","b":"theirs"}}`)
	module, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	plugin := load(t, newHost(t, Config{}), Module{Bytes: module, Config: json.RawMessage(`{"b":"ours"}`)})
	if diff := cmp.Diff(map[string]string{"a": "theirs", "b": "ours"}, plugin.settings); diff != "" {
		t.Error(diff)
	}
}

func TestExtismManifestThatCannotBeServedIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"wasm":[{"url":"https://example.com/plugin.wasm"}]}`:                       "nothing is fetched",
		`{"wasm":[{"path":"plugin.wasm","hash":"` + strings.Repeat("0", 64) + `"}]}`: "hash",
		`{"wasm":[{"path":"plugin.wasm"},{"path":"plugin.wasm"}]}`:                   "2 modules",
		`{"wasm":[]}`:                        "0 modules",
		`{"wasm":[{"path":"missing.wasm"}]}`: "no such file",
		`no JSON`:                            "extism manifest",
	} {
		_, err := read(t, folder(t, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestExtismManifestOfAPolicyMayNotAskForTheWorld(t *testing.T) {
	module := joined(t, Parts{
		Module:   file(t, "..", "..", "..", "testdata", "extism", "shapes.wasm"),
		Manifest: []byte(`{"abi":1,"name":"p","version":"1","kind":"policy"}`),
		Extism:   []byte(`{"wasm":[{"path":"p.wasm"}],"allowed_paths":{"/data":"/data"}}`),
	})
	if _, err := Inspect(module); err == nil || !strings.Contains(err.Error(), "sees no files") {
		t.Error(err)
	}
}

func TestOneDigestCoversModuleAndManifest(t *testing.T) {
	parts := Parts{Module: file(t, "..", "..", "..", "testdata", "extism", "shapes.wasm"), Manifest: []byte(`{"abi":1}`)}
	before := hexDigest(joined(t, parts))
	parts.Manifest = []byte(`{"abi":2}`)
	if hexDigest(joined(t, parts)) == before {
		t.Error("another manifest has the same digest")
	}
}

func TestModuleWithAManifestTakesNoSecondOne(t *testing.T) {
	_, err := Join(Parts{Module: wat(t, "abi/policy-allows"), Manifest: []byte(`{}`)})
	if err == nil || !strings.Contains(err.Error(), "of its own") {
		t.Error(err)
	}
}

func TestAuthorsToolsTakeTheManifestBesideAModule(t *testing.T) {
	dir := folder(t, `{"wasm":[{"path":"plugin.wasm"}]}`)
	if err := os.Rename(filepath.Join(dir, "ours.json"), filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plugin.wasm", "plugin.json"} {
		module, err := ReadPluginBeside(filepath.Join(dir, name), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Inspect(module); err != nil || got.Name != "extism-shapes" {
			t.Errorf("%s: %s, %v", name, got.Name, err)
		}
	}
}
