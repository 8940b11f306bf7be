package blackbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// vector is one of the modules that the plugin host is tested with.
func vector(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// refusal starts a service with the load entry and returns what it says when it refuses to start.
func refusal(t *testing.T, entry string) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "fastreact.yaml")
	text := config(t, folder, newModel(t, behaves), "plugins: {load: ["+entry+"]}\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	serve := exec.CommandContext(ctx, binary, "serve", "--config", file)
	serve.Dir = folder
	out, err := serve.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("serve ended with %v, want exit code 1", err)
	}
	return string(out)
}

func TestServeRefusesAPluginItCannotTrust(t *testing.T) {
	t.Parallel()
	good, zeros := vector(t, "abi/policy-allows.wasm"), strings.Repeat("0", 64)
	code, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(code)
	digest := hex.EncodeToString(sum[:])
	for name, c := range map[string]struct {
		entry string
		says  []string
	}{
		"missing file":     {`{path: absent.wasm, allow_unpinned: true}`, []string{"plugins.load[0] absent.wasm", "no such file", "plugin build"}},
		"wrong digest":     {`{path: "` + good + `", sha256: "` + zeros + `"}`, []string{good, "sha256:" + digest, "review", "pin"}},
		"unpinned":         {`{path: "` + good + `"}`, []string{"plugins.load[0].sha256", "is missing", "plugin inspect", "allow_unpinned"}},
		"no module":        {`{path: fastreact.yaml, allow_unpinned: true}`, []string{"fastreact.yaml", "WebAssembly", "plugin build"}},
		"wrong ABI":        {unpinned(t, "abi/manifest-is-abi-two.wasm"), []string{"manifest-is-abi-two.wasm", "abi"}},
		"no manifest":      {unpinned(t, "abi/manifest-is-missing.wasm"), []string{"manifest-is-missing.wasm", "fastreact.manifest", "plugin build"}},
		"no call":          {unpinned(t, "abi/call-is-missing.wasm"), []string{"call-is-missing.wasm", "fastreact_call"}},
		"grant missing":    {unpinned(t, "abi/import-files-not-granted.wasm"), []string{"import-files-not-granted.wasm", "not granted", "grants: {files:"}},
		"files in policy":  {unpinned(t, "abi/import-files-in-a-policy.wasm"), []string{"import-files-in-a-policy.wasm", "never granted to a policy"}},
		"unknown import":   {unpinned(t, "abi/import-log-of-another-version.wasm"), []string{"import-log-of-another-version.wasm", "does not exist on this host"}},
		"too much memory":  {unpinned(t, "hostile/memory-starts-large.wasm"), []string{"memory-starts-large.wasm", "limits.memory_pages"}},
		"same name twice":  {unpinned(t, "abi/policy-allows.wasm") + "," + unpinned(t, "abi/policy-allows.wasm"), []string{"plugins.load[1]", "loaded already"}},
		"guard in shadow":  {strings.Replace(unpinned(t, "abi/guard-releases.wasm"), "}", ", shadow: true}", 1), []string{"plugins.load[0]", "it is a guard", "remove shadow"}},
		"plugin's config":  {`{path: "` + good + `", sha256: "` + digest + `", config: {a: 1}}`, []string{good, "config"}},
		"above the bounds": {`{path: "` + good + `", sha256: "` + digest + `", limits: {wall: 1h}}`, []string{good, "ceiling"}},
	} {
		t.Run(name, func(t *testing.T) {
			said := refusal(t, c.entry)
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "listens on") {
				t.Errorf("it listened:\n%s", said)
			}
		})
	}
}

func unpinned(t *testing.T, name string) string {
	t.Helper()
	return `{path: "` + vector(t, name) + `", allow_unpinned: true}`
}

func TestServeNamesEveryPluginItRefusesAtOnce(t *testing.T) {
	t.Parallel()
	said := refusal(t, `{path: absent.wasm, allow_unpinned: true}, `+unpinned(t, "abi/import-http.wasm"))
	for _, want := range []string{"plugins.load[0] absent.wasm", "plugins.load[1]"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

func TestPluginThatEndsAtItsStartDeniesItsCalls(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hostile/trap-in-initialize.wasm", "hostile/spin-in-initialize.wasm", "abi/abi-is-two.wasm"} {
		t.Run(name, func(t *testing.T) {
			entry := strings.Replace(unpinned(t, name), "}", ", limits: {wall: 300ms}}", 1)
			s := start(t, newModel(t, behaves), "plugins: {cache_dir: \""+cacheDir(t)+"\", load: ["+entry+"]}\n")
			got := dryRun(s, "pska_bump", `{}`, "pska:user_primary")
			if got["level"] != "forbidden" || got["should_allow"] != false {
				t.Errorf("verdict is %v", got)
			}
			if _, raw := s.request("GET", "/ready", nil); s.object(raw)["status"] != "degraded" {
				t.Errorf("ready: %s", raw)
			}
		})
	}
}
