package blackbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk/build"
)

// saying is a policy plugin that decides every call alike.
func saying(t *testing.T, action string) []byte {
	t.Helper()
	code, err := os.ReadFile(vector(t, "abi/policy-allows.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	code = bytes.Replace(code, []byte(`{"action":"allow"}`), fmt.Appendf(nil, "%-18s", fmt.Sprintf(`{"action":%q}`, action)), 1)
	code, err = build.AppendManifest(code, []byte(`{"abi":1,"name":"house-rules","version":"1","kind":"policy"}`))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// replace puts a file in the place of another as an editor or a deployment does.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// startReloading starts a service with the policy plugin file, which denies, and everything else allowed.
func startReloading(t *testing.T, more string) (s *service, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "rules.wasm")
	replace(t, file, saying(t, "deny"))
	s = start(t, newModel(t, behaves), fmt.Sprintf(
		"plugins: {cache_dir: %q, load: [{path: %q, allow_unpinned: true}]%s}\npolicy: {default_action: allow}\n", cacheDir(t), file, more), identityEnv()...)
	s.token = serviceToken
	s.awaitLevel("forbidden")
	return s, file
}

// awaitLevel waits until a call is decided so.
func (s *service) awaitLevel(level string) {
	s.t.Helper()
	s.await(30*time.Second, func() (bool, string) {
		got := dryRun(s, "pska_bump", `{}`, "pska:user_primary")
		return got["level"] == level, fmt.Sprintf("the call is %v, want %s", got, level)
	})
}

// reloadPlugins asks for a reload as the administration.
func (s *service) reloadPlugins() (int, map[string]any) {
	s.t.Helper()
	status, raw := s.request("POST", "/v1/plugins/reload", nil, "Authorization", "Bearer "+adminToken)
	return status, s.object(raw)
}

// generation returns what /ready says of the plugins that serve, and of this one.
func (s *service) generation() (whole, plugin map[string]any) {
	s.t.Helper()
	_, raw := s.request("GET", "/ready", nil)
	ready := s.object(raw)
	for _, each := range ready["plugins"].([]any) {
		if one := each.(map[string]any); one["name"] == "house-rules" {
			plugin = one
		}
	}
	whole = ready["generation"].(map[string]any)
	if degraded := whole["state"] == "degraded"; degraded && ready["status"] != "degraded" {
		s.t.Errorf("the service is %v, its plugins are degraded", ready["status"])
	}
	return whole, plugin
}

func TestPluginsAreTakenUpAgainWhenTheirFileChanges(t *testing.T) {
	t.Parallel()
	s, file := startReloading(t, "")
	replace(t, file, saying(t, "allow"))
	s.awaitLevel("safe")
	if whole, plugin := s.generation(); whole["number"] != 2.0 || plugin["generation"] != 2.0 || whole["state"] != "ready" {
		t.Errorf("generation %v, plugin %v", whole, plugin)
	}
	if err := os.WriteFile(file, saying(t, "deny"), 0o600); err != nil { // in place, as some editors do
		t.Fatal(err)
	}
	s.awaitLevel("forbidden")
}

func TestAPluginFileThatIsDeletedKeepsDeciding(t *testing.T) {
	t.Parallel()
	s, file := startReloading(t, "")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.await(30*time.Second, func() (bool, string) {
		whole, plugin := s.generation()
		return whole["state"] == "degraded" && plugin["state"] == "degraded", fmt.Sprint(whole, plugin)
	})
	whole, _ := s.generation()
	if whole["number"] != 1.0 || whole["degraded_since"] == nil || !strings.Contains(fmt.Sprint(whole["last_error"]), "no such file") {
		t.Errorf("generation %v", whole)
	}
	s.awaitLevel("forbidden")
	replace(t, file, saying(t, "deny"))
	s.await(30*time.Second, func() (bool, string) {
		whole, _ := s.generation()
		return whole["state"] == "ready" && whole["number"] == 1.0, fmt.Sprint(whole)
	})
}

func TestPluginsAreReloadedBySignalAndByTheAdministrationOnly(t *testing.T) {
	t.Parallel()
	s, file := startReloading(t, ", watch: false")
	replace(t, file, saying(t, "allow"))
	if err := s.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.awaitLevel("safe")
	replace(t, file, saying(t, "deny"))
	if status, raw := s.request("POST", "/v1/plugins/reload", nil); status != 401 {
		t.Errorf("the service token: %d %s", status, raw)
	}
	status, answer := s.reloadPlugins()
	if status != 200 || answer["previous_generation"] != 2.0 || answer["generation"] != 3.0 || answer["changed"] != true {
		t.Fatalf("reload: %d %v", status, answer)
	}
	changes := map[string]any{}
	for _, each := range answer["plugins"].([]any) {
		changes[each.(map[string]any)["name"].(string)] = each.(map[string]any)["change"]
	}
	if changes["house-rules"] != "changed" || changes["exec-guard"] != "unchanged" {
		t.Errorf("changes: %v", changes)
	}
	if status, answer := s.reloadPlugins(); status != 200 || answer["changed"] != false || answer["generation"] != 3.0 {
		t.Errorf("nothing changed: %d %v", status, answer)
	}
	s.awaitLevel("forbidden")
}

// guarded makes a service load the plugin by signature and lock file alone.
func (s *service) guarded(file string) (lock string) {
	s.t.Helper()
	folder := filepath.Dir(file)
	key := filepath.Join(folder, "alice")
	lock = filepath.Join(s.folder, "plugins.lock")
	text, err := os.ReadFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	signed := fmt.Sprintf("}], trust: {required: true, keys: [{name: alice, public_key_file: %q}]}, watch", key+".pub")
	changed := strings.Replace(string(text), ", allow_unpinned: true}], watch", signed, 1)
	replace(s.t, s.config, []byte(changed))
	for _, args := range [][]string{
		{"plugin", "keygen", "--out", key},
		{"plugin", "sign", "--key", key + ".key", file},
		{"plugin", "lock", "--config", s.config},
		{"plugin", "verify", "--pub", key + ".pub", "--lock", lock, file},
	} {
		if said, err := s.fastreact(args...); err != nil {
			s.t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	if status, answer := s.reloadPlugins(); status != 200 {
		s.t.Fatalf("reload: %d %v", status, answer)
	}
	return lock
}

func TestAPluginThatSomebodyChangedIsRefusedAndTheOldOneDecidesOn(t *testing.T) {
	t.Parallel()
	s, file := startReloading(t, ", watch: false")
	lock := s.guarded(file)
	whole, _ := s.generation()
	number := whole["number"]
	for name, c := range map[string]struct{ file, old, now, says string }{
		"module":    {file, `{"action":"deny"}`, `{"action":"denz"}`, "not the pinned one"},
		"manifest":  {file, "house-rules", "house-rulez", "not the pinned one"},
		"signature": {file + ".sig", `"signature": "`, `"signature": "A`, "somebody changed it"},
		"signed":    {file + ".sig", `"digest": "sha256:`, `"digest": "sha256:0`, "for another module"},
		"lock":      {lock, "sha256:", "sha256:0", "plugins.lock"},
		"pin":       {lock, "rules.wasm", "rulez.wasm", "sha256: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			old, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				replace(t, c.file, old)
				if status, answer := s.reloadPlugins(); status != 200 || answer["generation"] != number {
					t.Errorf("the old file again: %d %v", status, answer)
				}
				if whole, _ := s.generation(); whole["state"] != "ready" || whole["last_error"] != nil {
					t.Errorf("afterwards: %v", whole)
				}
			}()
			changed := bytes.Replace(old, []byte(c.old), []byte(c.now), 1)
			if bytes.Equal(changed, old) {
				t.Fatalf("there is no %q in %s", c.old, old)
			}
			replace(t, c.file, changed)
			status, answer := s.reloadPlugins()
			said := string(mustJSON(t, answer))
			if status != 422 || !strings.Contains(said, "invalid_plugins") || !strings.Contains(said, c.says) {
				t.Errorf("reload: %d %s, want %q", status, said, c.says)
			}
			if whole, _ := s.generation(); whole["state"] != "degraded" || whole["number"] != number || whole["degraded_since"] == nil {
				t.Errorf("generation: %v", whole)
			}
			if got := dryRun(s, "pska_bump", `{}`, "pska:user_primary"); got["level"] != "forbidden" {
				t.Errorf("the call is decided %v", got)
			}
		})
	}
}

func TestAPluginThatBringsItsOwnGrantsGetsNone(t *testing.T) {
	t.Parallel()
	s, file := startReloading(t, ", watch: false")
	code, err := os.ReadFile(vector(t, "abi/import-files-not-granted.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, file, code)
	status, answer := s.reloadPlugins()
	if said := string(mustJSON(t, answer)); status != 422 || !strings.Contains(said, "not granted") || !strings.Contains(said, "plugins.load[0]") {
		t.Errorf("reload: %d %s", status, said)
	}
	s.awaitLevel("forbidden")
}
