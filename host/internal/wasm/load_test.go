package wasm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// refusal loads a module that must be refused and returns what the error says.
func refusal(t *testing.T, module Module) string {
	t.Helper()
	_, err := newHost(t, Config{}).Load(t.Context(), module)
	var failure *Failure
	if !errors.As(err, &failure) || failure.Code != run.PluginUnavailable {
		t.Fatalf("not refused as unavailable: %v", err)
	}
	return failure.Err.Error()
}

func expectRefusal(t *testing.T, module Module, words ...string) {
	t.Helper()
	text := refusal(t, module)
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("the refusal does not say %q: %s", word, text)
		}
	}
}

func hexDigest(module []byte) string {
	sum := sha256.Sum256(module)
	return hex.EncodeToString(sum[:])
}

func TestUnpinnedModuleIsRefusedAndTheLineToAddIsNamed(t *testing.T) {
	module := wat(t, "abi/policy-allows")
	expectRefusal(t, Module{Bytes: module}, "sha256: "+hexDigest(module), "plugins.load", "operator")
}

func TestModuleThatMissesItsPinIsRefused(t *testing.T) {
	expectRefusal(t, Module{Bytes: wat(t, "abi/policy-allows"), SHA256: strings.Repeat("0", 64), AllowUnpinned: true}, "pins")
}

func TestPinnedModuleLoads(t *testing.T) {
	module := wat(t, "abi/policy-allows")
	for _, pin := range []string{hexDigest(module), "sha256:" + strings.ToUpper(hexDigest(module))} {
		plugin, err := newHost(t, Config{}).Load(t.Context(), Module{Bytes: module, SHA256: pin})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("sha256:"+hexDigest(module), plugin.Digest()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestBuiltinModuleNeedsNoPin(t *testing.T) {
	if _, err := newHost(t, Config{}).Load(t.Context(), Module{Bytes: wat(t, "abi/policy-allows"), Builtin: true}); err != nil {
		t.Error(err)
	}
}

func TestConfigForAPluginIsRefused(t *testing.T) {
	module := Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true, Config: json.RawMessage(`{"a":1}`)}
	expectRefusal(t, module, "config")
}

func TestEmptyConfigIsAccepted(t *testing.T) {
	load(t, newHost(t, Config{}), Module{Bytes: wat(t, "abi/policy-allows"), Config: json.RawMessage(` {} `)})
}

func TestUngrantedFilesNameCapabilityLineAndWhoAddsIt(t *testing.T) {
	module := Module{Bytes: wat(t, "abi/import-files-not-granted"), AllowUnpinned: true}
	expectRefusal(t, module, `"files"`, "path_open", `grants: {files: [{path: workspace, at: "/", mode: rw}]}`, "operator")
}

func TestUnrequestedFilesNameTheAuthor(t *testing.T) {
	module := Module{
		Bytes: wat(t, "abi/import-files-not-requested"), AllowUnpinned: true,
		Grants: sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadWrite}}},
	}
	expectRefusal(t, module, `"files"`, "author", "capabilities.files")
}

func TestFilesOfAPureKindAreNeverGranted(t *testing.T) {
	module := Module{
		Bytes: wat(t, "abi/import-files-in-a-policy"), AllowUnpinned: true,
		Grants: sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadOnly}}},
	}
	expectRefusal(t, module, `"files"`, "never granted to a policy")
}

func TestUnknownCapabilityIsNamed(t *testing.T) {
	expectRefusal(t, Module{Bytes: wat(t, "abi/import-log-of-another-version"), AllowUnpinned: true}, `"log/2"`, "nobody can grant it")
}

func TestGrantedFilesLoad(t *testing.T) {
	load(t, newHost(t, Config{}), Module{
		Bytes:  wat(t, "abi/import-files-not-granted"),
		Grants: sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadOnly}}},
	})
}

func TestImpossibleGrantIsRefused(t *testing.T) {
	for _, grant := range []sdk.FileAccess{
		{Path: "relative", At: "/", Mode: sdk.ReadOnly},
		{Path: "/no/such/folder", At: "/", Mode: sdk.ReadOnly},
		{Path: "workspace", At: "w", Mode: sdk.ReadOnly},
		{Path: "workspace", At: "/", Mode: "rwx"},
	} {
		expectRefusal(t, Module{
			Bytes: wat(t, "abi/tool-answers"), AllowUnpinned: true, Grants: sdk.Capabilities{Files: []sdk.FileAccess{grant}},
		}, "grants.files[0]")
	}
}

func TestGrantIsNoMoreThanWhatWasRequested(t *testing.T) {
	requested := []sdk.FileAccess{{At: "/a", Mode: sdk.ReadOnly}, {At: "/b", Mode: sdk.ReadWrite}, {At: "/c", Mode: sdk.ReadWrite}}
	granted := []sdk.FileAccess{
		{Path: "workspace", At: "/a", Mode: sdk.ReadWrite},
		{Path: "workspace", At: "/b", Mode: sdk.ReadWrite},
		{Path: "workspace", At: "/d", Mode: sdk.ReadWrite},
	}
	got, err := intersect(requested, granted)
	if err != nil {
		t.Fatal(err)
	}
	want := []mount{{"workspace", "/a", sdk.ReadOnly}, {"workspace", "/b", sdk.ReadWrite}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsAboveTheCeilingAreRefused(t *testing.T) {
	module := Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true, Limits: sdk.Limits{Wall: sdk.Duration(time.Hour)}}
	expectRefusal(t, module, "ceiling", "1h0m0s")
}

func TestLimitsFollowEntryThenManifestThenHost(t *testing.T) {
	manifest := sdk.Manifest{Kind: sdk.KindPolicy, Limits: sdk.Limits{MemoryPages: 100, OutputBytes: 1 << 30}}
	cfg := Config{Limits: sdk.Limits{LogBytes: 7, MemoryPages: 9}, Ceiling: sdk.Limits{OutputBytes: 1000}}
	got, err := resolve(cfg, sdk.Limits{Wall: sdk.Duration(time.Second)}, manifest)
	if err != nil {
		t.Fatal(err)
	}
	want := over(sdk.Limits{Wall: sdk.Duration(time.Second), MemoryPages: 100, OutputBytes: 1000, LogBytes: 7}, defaults(sdk.KindPolicy))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostCeilingAboveTheBuiltInOneIsRefused(t *testing.T) {
	if _, err := New(Config{Ceiling: sdk.Limits{Wall: sdk.Duration(24 * time.Hour)}}); err == nil {
		t.Error("it was accepted")
	}
}

func TestModuleWithTwoManifestsIsRefused(t *testing.T) {
	module := wat(t, "abi/policy-allows")
	one, err := build.AppendManifest(module, []byte(`{"abi":1,"name":"other","version":"1","kind":"policy"}`))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := sections(one)
	if err != nil {
		t.Fatal(err)
	}
	body := parts[len(parts)-1].body
	twice := binary.AppendUvarint(append(one, sectionCustom), uint64(len(body)))
	expectRefusal(t, Module{Bytes: append(twice, body...), AllowUnpinned: true}, "two manifests")
}

func TestFailedLoadLeavesNothing(t *testing.T) {
	host := newHost(t, Config{})
	if _, err := host.Load(t.Context(), Module{Bytes: wat(t, "abi/abi-is-two"), AllowUnpinned: true}); err == nil {
		t.Fatal("it was loaded")
	}
	if left := len(host.engines.known); left > 0 {
		t.Errorf("%d engines are left", left)
	}
}

func TestModuleThatIsTooLargeIsRefused(t *testing.T) {
	err := Check(Config{}, Module{Bytes: make([]byte, defaultModuleBytes+1), Builtin: true})
	if err == nil || !strings.Contains(err.Error(), "67108865 bytes, the limit is 67108864") {
		t.Errorf("got %v", err)
	}
}

func TestTwoLoadsOfOneModuleShareItsCode(t *testing.T) {
	host := newHost(t, Config{})
	module := Module{Bytes: wat(t, "abi/policy-allows")}
	first, second := load(t, host, module), load(t, host, module)
	if first.engine != second.engine {
		t.Error("it was compiled twice")
	}
}
