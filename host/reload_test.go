package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/trust"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// yard is a service without its network whose configuration and plugins a test rewrites.
type yard struct {
	t      *testing.T
	folder string
	server *Server
}

// newYard starts a service with one policy plugin that allows everything.
func newYard(t *testing.T, plugins string) *yard {
	t.Helper()
	y := &yard{t: t, folder: t.TempDir()}
	y.plugin("a.wasm", "alpha", sdk.Allow)
	y.configure(plugins, "")
	loaded, err := y.load()
	if err != nil {
		t.Fatal(err)
	}
	y.server, err = New(context.Background(), Options{
		Config: loaded.Config, Version: "test", Log: slog.New(slog.DiscardHandler), Reload: y.load, File: y.path("f.yaml"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := y.server.Close(); err != nil {
			t.Error(err)
		}
	})
	y.server.compilePlugins(context.Background())
	return y
}

const oneUnpinned = `load: [{path: $/a.wasm, allow_unpinned: true}]`

func (y *yard) path(name string) string { return filepath.Join(y.folder, name) }

func (y *yard) load() (*Loaded, error) {
	return Load(LoadOptions{Path: y.path("f.yaml"), Getenv: func(string) string { return "" }})
}

// configure writes the configuration file. $ stands for the folder.
func (y *yard) configure(plugins, more string) {
	y.t.Helper()
	text := "plugins: {cache_dir: $/cache, " + plugins + "}\nstore: {path: $/f.db}\nworkspace: {root: $/w}\n" + more
	y.write("f.yaml", []byte(strings.ReplaceAll(text, "$", y.folder)))
}

func (y *yard) write(name string, content []byte) {
	y.t.Helper()
	if err := trust.Replace(y.path(name), content, 0o600); err != nil {
		y.t.Fatal(err)
	}
}

// policyModule is a policy plugin that always says the same.
func policyModule(t *testing.T, name string, action sdk.Action) []byte {
	t.Helper()
	code, err := os.ReadFile("../testdata/abi/policy-allows.wasm")
	if err != nil {
		t.Fatal(err)
	}
	says := fmt.Sprintf("%-18s", fmt.Sprintf(`{"action":%q}`, action))
	code = bytes.Replace(code, []byte(`{"action":"allow"}`), []byte(says), 1)
	code, err = build.AppendManifest(code, fmt.Appendf(nil, `{"abi":1,"name":%q,"version":"1","kind":"policy"}`, name))
	if err != nil || len(says) != 18 {
		t.Fatal(says, err)
	}
	return code
}

// versioned is the same module with another version in its manifest, and so with another digest.
func versioned(t *testing.T, code []byte) []byte {
	t.Helper()
	other, err := build.AppendManifest(code, []byte(`{"abi":1,"name":"alpha","version":"2","kind":"policy"}`))
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func (y *yard) plugin(file, name string, action sdk.Action) {
	y.t.Helper()
	y.write(file, policyModule(y.t, name, action))
}

func (y *yard) reload() error {
	_, err := y.server.reload(context.Background(), reach{rules: true, plugins: true})
	return err
}

func (y *yard) mustReload() {
	y.t.Helper()
	if err := y.reload(); err != nil {
		y.t.Fatal(err)
	}
}

// says returns what is decided about a call.
func (y *yard) says() sdk.Action {
	return y.server.gate.DryRun(context.Background(), gate.Probe{Tool: "read_file"}).Action
}

func (y *yard) expect(generation int, action sdk.Action) {
	y.t.Helper()
	if got := y.server.serving.Load().number; got != generation {
		y.t.Errorf("generation %d serves, want %d", got, generation)
	}
	if got := y.says(); got != action {
		y.t.Errorf("the call is decided %s, want %s", got, action)
	}
}

const allowAll = "policy: {default_action: allow}\n"

func TestAReloadTakesUpAnotherPlugin(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.configure(oneUnpinned, allowAll)
	y.mustReload()
	y.expect(1, sdk.Allow)
	y.plugin("a.wasm", "alpha", sdk.Deny)
	y.mustReload()
	y.expect(2, sdk.Deny)
	y.mustReload()
	y.expect(2, sdk.Deny)
}

func TestAReloadThatRemovesAPolicyTakesEffect(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.plugin("a.wasm", "alpha", sdk.Deny)
	y.configure(oneUnpinned, allowAll)
	y.mustReload()
	y.expect(2, sdk.Deny)
	y.configure("load: []", allowAll)
	y.mustReload()
	y.expect(3, sdk.Allow)
	if plugins := y.server.gate.Policy().Plugins; len(plugins) != 0 {
		t.Errorf("plugins: %v", plugins)
	}
}

func TestWhateverFailsLeavesTheOldGenerationServing(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(y *yard)
		says string
	}{
		"module is gone": {func(y *yard) { _ = os.Remove(y.path("a.wasm")) }, "there is no such file"},
		"module is none": {func(y *yard) { y.write("a.wasm", []byte("text")) }, "WebAssembly"},
		"module traps":   {func(y *yard) { y.copy("hostile/trap-in-initialize.wasm") }, "cannot be started: plugin_trap"},
		"grant is asked": {func(y *yard) { y.copy("abi/import-files-in-a-policy.wasm") }, "never granted to a policy"},
		"guard in shadow": {func(y *yard) {
			y.copy("abi/guard-releases.wasm")
			y.configure("load: [{path: $/a.wasm, allow_unpinned: true, shadow: true}]", "")
		}, "it is a guard"},
		"no pin":        {func(y *yard) { y.configure("load: [{path: $/a.wasm}]", "") }, "sha256: is missing"},
		"another pin":   {func(y *yard) { y.configure("load: [{path: $/a.wasm, sha256: \""+strings.Repeat("0", 64)+"\"}]", "") }, "not the pinned one"},
		"no signature":  {func(y *yard) { y.sign("other"); _ = os.Remove(y.path("a.wasm.sig")) }, "not signed"},
		"broken config": {func(y *yard) { y.write("f.yaml", []byte("plugins: [")) }, "neither YAML nor JSON"},
		"broken policy": {func(y *yard) { y.configure(oneUnpinned, "policy: {default_action: maybe}\n") }, "default_action"},
		"same name twice": {func(y *yard) {
			y.configure("load: [{path: $/a.wasm, allow_unpinned: true}, {path: $/a.wasm, allow_unpinned: true}]", "")
		}, "loaded already"},
		"vector fails": {func(y *yard) { y.vector() }, `vector "one": action is "allow", the manifest wants "deny"`},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, oneUnpinned)
			before := y.says()
			c.harm(y)
			if err := y.reload(); err == nil {
				t.Fatal("it was reloaded")
			}
			y.expect(1, before)
			y.expectTrouble(c.says)
			y.plugin("a.wasm", "alpha", sdk.Deny)
			y.configure(oneUnpinned, "")
			y.mustReload()
			y.expect(2, sdk.Deny)
			if y.server.trouble.Load() != nil {
				t.Error("a reload that went well left the trouble of before")
			}
		})
	}
}

func (y *yard) copy(vector string) {
	y.t.Helper()
	code, err := os.ReadFile(filepath.Join("../testdata", vector))
	if err != nil {
		y.t.Fatal(err)
	}
	y.write("a.wasm", code)
}

// vector gives the plugin a self-test that it does not pass.
func (y *yard) vector() {
	y.t.Helper()
	code, err := build.AppendManifest(policyModule(y.t, "alpha", sdk.Allow), []byte(
		`{"abi":1,"name":"alpha","version":"2","kind":"policy","vectors":[{"name":"one","op":"evaluate","input":{"tool":"exec","args":{}},"want":{"action":"deny"}}]}`))
	if err != nil {
		y.t.Fatal(err)
	}
	y.write("a.wasm", code)
}

// sign signs the plugin and asks for signatures by that key from now on.
func (y *yard) sign(name string) (public string) {
	y.t.Helper()
	pair, err := GenerateKey()
	if err != nil {
		y.t.Fatal(err)
	}
	y.write(name+".key", pair.Private)
	y.write(name+".pub", pair.Public)
	if _, err := SignPlugin(y.path("a.wasm"), y.path(name+".key")); err != nil {
		y.t.Fatal(err)
	}
	y.configure(oneUnpinned+", trust: {required: true, keys: [{name: "+name+", public_key_file: $/"+name+".pub}]}", "")
	return y.path(name + ".pub")
}

func (y *yard) expectTrouble(says string) {
	y.t.Helper()
	trouble := y.server.trouble.Load()
	if trouble == nil || !strings.Contains(trouble.reason(), says) || trouble.since.IsZero() {
		y.t.Fatalf("trouble is %+v, want %q", trouble, says)
	}
	report := inspector{y.server}.Ready(context.Background()).Generation
	if report.Degraded.IsZero() || report.Number != y.server.serving.Load().number {
		y.t.Errorf("readiness: %+v", report)
	}
}

func TestTheFirstOfSeveralFailuresSaysSinceWhen(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.write("a.wasm", nil)
	_ = y.reload()
	first := y.server.trouble.Load()
	_ = y.reload()
	if second := y.server.trouble.Load(); first == nil || second == first || !second.since.Equal(first.since) {
		t.Errorf("first %v, second %v", first, second)
	}
}

func TestAnyChangedByteOfASignedPinnedPluginIsRefused(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.sign("alice")
	y.mustReload()
	signed, err := os.ReadFile(y.path("f.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	y.write("f.yaml", bytes.ReplaceAll(signed, []byte(", allow_unpinned: true"), nil))
	plan, err := PlanLock(LockRequest{Path: y.path("plugins.lock"), Load: LoadOptions{Path: y.path("f.yaml"), Getenv: func(string) string { return "" }}})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(); err != nil {
		t.Fatal(err)
	}
	y.mustReload()
	generation := y.server.serving.Load().number
	for _, file := range []string{"a.wasm", "a.wasm.sig", "plugins.lock"} {
		whole, err := os.ReadFile(y.path(file))
		if err != nil {
			t.Fatal(err)
		}
		for at := len(whole) % 7; at < len(whole); at += 7 {
			changed := bytes.Clone(whole)
			changed[at] ^= 1
			y.write(file, changed)
			if err := y.reload(); err == nil && changed[at] > ' ' {
				t.Fatalf("%s with another byte %d (%q) passes", file, at, changed[at])
			}
			if got := y.server.serving.Load().number; got != generation {
				t.Fatalf("%s with another byte %d serves as generation %d", file, at, got)
			}
		}
		y.write(file, whole)
	}
	y.mustReload()
	if got := y.server.serving.Load(); got.number != generation || !strings.HasPrefix(got.residents[0].signer, "alice ed25519:") {
		t.Errorf("generation %d, signer %q", got.number, got.residents[0].signer)
	}
}

func TestASignatureByAStrangerIsRefusedAlsoWhereNoneIsAskedFor(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.sign("alice")
	y.sign("mallory")
	y.configure(oneUnpinned+", trust: {keys: [{name: alice, public_key_file: $/alice.pub}]}", "")
	if err := y.reload(); err == nil || !strings.Contains(err.Error(), "not listed") {
		t.Errorf("error is %v", err)
	}
	if err := os.Remove(y.path("a.wasm.sig")); err != nil {
		t.Fatal(err)
	}
	y.mustReload()
}

func TestACallThatOutlastsItsPluginsIsEndedAtTheDeadline(t *testing.T) {
	y := newYard(t, oneUnpinned)
	spin := `load: [{path: $/a.wasm, allow_unpinned: true, limits: {wall: 1m}}], drain_timeout: 10ms`
	y.copy("hostile/spin-in-call.wasm")
	y.configure(spin, "")
	y.mustReload()
	ended := make(chan sdk.Action)
	go func() { ended <- y.says() }()
	for y.inUse() == 0 {
		runtime.Gosched()
	}
	y.configure("load: []", allowAll)
	y.mustReload()
	if got := <-ended; got != sdk.Deny {
		t.Errorf("the call that was ended is decided %s", got)
	}
	y.server.retiring.Wait()
	y.expect(3, sdk.Allow)
}

// inUse counts calls under way in the first plugin.
func (y *yard) inUse() int { return y.server.serving.Load().residents[0].plugin.Gauges().Leased }

func TestTwoPluginsOfOneModuleShareItAndEachGoesAlone(t *testing.T) {
	y := newYard(t, oneUnpinned)
	shadowed := `load: [{path: $/a.wasm, allow_unpinned: true, shadow: true}]`
	first := y.server.serving.Load().residents[0]
	y.configure(shadowed, allowAll)
	y.mustReload()
	second := y.server.serving.Load().residents[0]
	if first == second || first.Digest() != second.Digest() || first.tally != second.tally {
		t.Error("an entry that changed is the same plugin, or counts anew")
	}
	y.server.retiring.Wait()
	y.expect(2, sdk.Allow) // the twin that is closed took nothing with it
}

func TestReloadsAtOnceComeOneAfterTheOther(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.plugin("a.wasm", "alpha", sdk.Deny)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := y.reload(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	y.expect(2, sdk.Deny)
}

func TestNoReloadBeginsWhenTheServiceEnds(t *testing.T) {
	y := newYard(t, oneUnpinned)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			y.plugin("a.wasm", "alpha", []sdk.Action{sdk.Allow, sdk.Deny}[i%2])
			if err := y.reload(); err != nil && !errors.Is(err, errStopping) && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	if err := y.server.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if err := y.reload(); !errors.Is(err, errStopping) {
		t.Errorf("error is %v", err)
	}
}

func TestThreeHundredSwapsUnderLoadDisturbNoCall(t *testing.T) {
	y := newYard(t, oneUnpinned)
	y.configure(oneUnpinned, allowAll)
	y.mustReload()
	modules := [][]byte{policyModule(t, "alpha", sdk.Allow), versioned(t, policyModule(t, "alpha", sdk.Allow))}
	over := make(chan struct{})
	var callers sync.WaitGroup
	counts := make([]int, 4)
	for i := range counts {
		callers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if got := y.says(); got != sdk.Allow {
					t.Errorf("a call is decided %s", got)
					return
				}
				counts[i]++
			}
		})
	}
	for i := range 300 {
		y.write("a.wasm", modules[(i+1)%2])
		y.mustReload()
	}
	close(over)
	callers.Wait()
	t.Logf("calls: %v", counts)
	if got := y.server.serving.Load().number; got != 301 {
		t.Errorf("generation %d serves, want 301", got)
	}
	if _, failures := y.server.serving.Load().residents[0].counts(); failures != 0 {
		t.Errorf("%d calls failed", failures)
	}
}

func TestFiveHundredReloadsLeaveNothingBehind(t *testing.T) {
	y := newYard(t, oneUnpinned)
	modules := [][]byte{policyModule(t, "alpha", sdk.Deny), policyModule(t, "alpha", sdk.Allow)}
	swap := func(n int) {
		for i := range n {
			y.write("a.wasm", modules[i%2])
			y.mustReload()
			y.says()
		}
		y.server.retiring.Wait()
	}
	swap(50)
	memory, goroutines := heap(), runtime.NumGoroutine()
	swap(500)
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines+2 && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if now := runtime.NumGoroutine(); now > goroutines+2 {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
	if now := heap(); now > memory+8<<20 {
		t.Errorf("%d bytes, %d before", now, memory)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
