package wasm

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/policycases"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// cachedHost keeps compiled Go guests for all tests.
func cachedHost(t testing.TB) *Host { return newHost(t, Config{CacheDir: goGuests.cacheDir}) }

func extismPolicy(t testing.TB) *Plugin {
	t.Helper()
	return load(t, cachedHost(t), Module{Bytes: joined(t, Parts{
		Module: built(t, foreignGuests.policy), Manifest: file(t, examples("policy-extism"), "manifest.json"),
	})})
}

func TestUnmodifiedExtismPolicyDecides(t *testing.T) {
	plugin := extismPolicy(t)
	policycases.Check(t, func(q sdk.Question) (sdk.Opinion, error) { return plugin.Evaluate(t.Context(), q) })
}

func assemblyScriptPolicy(t testing.TB) *Plugin {
	t.Helper()
	module := assemblyScript(t, filepath.Join(examples("policy-assemblyscript"), "assembly", "index.ts"))
	return load(t, newHost(t, Config{}), Module{Bytes: joined(t, Parts{
		Module: module, Manifest: file(t, examples("policy-assemblyscript"), "manifest.json"),
	})})
}

// TestAssemblyScriptsCollectorIsRestoredToo asks more than its heap holds: what it collected in one call, and was about
// to, does not show in the next.
func TestAssemblyScriptsCollectorIsRestoredToo(t *testing.T) {
	plugin := assemblyScriptPolicy(t)
	asked := map[string][]byte{}
	for n := range 400 {
		tenant := []string{"alpha-canary", "omega-canary"}[n%2]
		path := fmt.Sprintf("%s/%d%s.sh", tenant, n%7, strings.Repeat("x", n%5*300))
		input, err := json.Marshal(sdk.Question{Tool: "write_file", Args: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path))})
		if err != nil {
			t.Fatal(err)
		}
		if n%50 == 49 {
			input = input[:len(input)/2] // it traps, and its instance goes
		}
		var spent Spent
		answer, err := plugin.Exchange(t.Context(), sdk.OpEvaluate, CallContext{Spent: &spent}, input)
		outcome := fmt.Appendf(nil, "%s %v %d", answer, err, spent.Gas)
		if before, known := asked[string(input)]; known && string(before) != string(outcome) {
			t.Fatalf("call %d: %s, before %s", n, outcome, before)
		}
		asked[string(input)] = outcome
	}
	if gauges := plugin.Gauges(); plugin.Mode() != ModeSnapshot || gauges.Restored == 0 {
		t.Errorf("mode %s, %d restored", plugin.Mode(), gauges.Restored)
	}
}

func TestAssemblyScriptPolicyDecides(t *testing.T) {
	plugin := assemblyScriptPolicy(t)
	policycases.Check(t, func(q sdk.Question) (sdk.Opinion, error) { return plugin.Evaluate(t.Context(), q) })
}

// toolManifest describes tools that have nothing but names, for a module of the tests.
func toolManifest(t testing.TB, names ...string) []byte {
	t.Helper()
	manifest := sdk.Manifest{ABI: sdk.ABIVersion, Name: "guest", Version: "1", Kind: sdk.KindTool}
	for _, name := range names {
		manifest.Tools = append(manifest.Tools, sdk.ToolSpec{
			Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Extism: &sdk.ExtismTool{Function: name, Input: "text"},
		})
	}
	raw, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func pdkTools() []string { return []string{"echo", "vowels", "setting", "remember", "fails"} }

// goPDK loads the module of testdata/gopdk with what it asks for: /data shows an empty folder.
func goPDK(t testing.TB, config string) *Plugin {
	t.Helper()
	return worldly(t, World{}, t.TempDir(), config)
}

func worldly(t testing.TB, world World, folder, config string) *Plugin {
	t.Helper()
	names := append(pdkTools(), "panics", "spins", "read", "fetch")
	extism := `{"wasm":[{"path":"x"}],"allowed_hosts":["api.example"],"allowed_paths":{"/author":"/data"},"timeout_ms":2000}`
	return load(t, newHost(t, Config{CacheDir: goGuests.cacheDir, World: world}), Module{
		Bytes:  joined(t, Parts{Module: built(t, foreignGuests.pdk), Manifest: toolManifest(t, names...), Extism: []byte(extism)}),
		Config: json.RawMessage(config),
		Grants: sdk.Capabilities{
			Files: []sdk.FileAccess{{Path: folder, At: "/data", Mode: sdk.ReadWrite}},
			HTTP:  []sdk.HTTPAccess{{Scheme: "http", Host: "api.example"}},
		},
	})
}

func asPDK(t testing.TB, config string) *Plugin {
	t.Helper()
	module := assemblyScript(t, filepath.Join("testdata", "aspdk", "index.ts"))
	return load(t, cachedHost(t), Module{
		Bytes: joined(t, Parts{Module: module, Manifest: toolManifest(t, pdkTools()...)}), Config: json.RawMessage(config),
	})
}

func callText(t testing.TB, plugin *Plugin, tool, text string) (string, error) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plugin.Call(t.Context(), CallContext{}, sdk.Call{Tool: tool, Args: args})
	return result.Content, err
}

func TestExtismVariablesEndWithTheirCall(t *testing.T) {
	for name, plugin := range map[string]*Plugin{"Go": goPDK(t, ""), "AssemblyScript": asPDK(t, "")} {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{"first tenant", "second tenant"} {
				got, err := callText(t, plugin, "remember", text)
				if diff := cmp.Diff("nothing, then "+text, got); err != nil || diff != "" {
					t.Error(err, diff)
				}
			}
		})
	}
}

func TestExtismPluginReadsItsEntrysConfig(t *testing.T) {
	for name, plugin := range map[string]*Plugin{
		"Go": goPDK(t, `{"greeting":"hello"}`), "AssemblyScript": asPDK(t, `{"greeting":"hello"}`),
	} {
		t.Run(name, func(t *testing.T) {
			for asked, want := range map[string]string{"greeting": "hello", "other": "none"} {
				if got, err := callText(t, plugin, "setting", asked); err != nil || got != want {
					t.Errorf("%s: %q, %v", asked, got, err)
				}
			}
		})
	}
}

func TestExtismConfigHoldsTextsOnly(t *testing.T) {
	module, _ := shapes(t)
	_, err := newHost(t, Config{}).Load(t.Context(), Module{Bytes: module, AllowUnpinned: true, Config: json.RawMessage(`{"n":1}`)})
	if err == nil || !strings.Contains(err.Error(), "config.n") {
		t.Error(err)
	}
}

func TestWhatAnExtismGuestSaysOfItsErrorStaysPrivate(t *testing.T) {
	plugin := goPDK(t, "")
	for _, tool := range []string{"fails", "panics"} {
		_, err := callText(t, plugin, tool, "x")
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "canary") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if _, lastError := plugin.Status(); strings.Contains(lastError, "canary") {
		t.Error(lastError)
	}
}

func TestEveryCallOfAnExtismGuestHasADeadline(t *testing.T) {
	plugin := goPDK(t, "")
	for range 2 { // not the first one only
		if _, err := callText(t, plugin, "spins", "x"); codeOf(t, err) != run.PluginTimedOut {
			t.Error(err)
		}
	}
}

func TestToolOutputThatIsNoResultIsText(t *testing.T) {
	plugin := goPDK(t, "")
	for text, want := range map[string]sdk.Result{
		"plain":                               {Content: "plain"},
		"{}":                                  {Content: "{}"},
		`{"count":3}`:                         {Content: `{"count":3}`},
		`{"content":"yes"} x`:                 {Content: `{"content":"yes"} x`},
		`{"content":"yes","and":1}`:           {Content: `{"content":"yes","and":1}`},
		`{"content":"no","is_error":true}`:    {Content: "no", IsError: true},
		`{"structured":{"a":1},"content":""}`: {Structured: json.RawMessage(`{"a":1}`)},
		"":                                    {},
	} {
		args, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		got, err := plugin.Call(t.Context(), CallContext{}, sdk.Call{Tool: "echo", Args: args})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
}
