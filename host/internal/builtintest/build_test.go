package builtintest_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/plugins/builtin/assemble"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/testdata/peers"
)

// home is the root of the Go module as seen from here.
const home = "../../.."

// shelf holds what all tests share: fresh builds of every plugin, and compiled code on disk.
var shelf struct {
	dir    string                            // set by TestMain
	builds func() (map[string][]byte, error) // set by TestMain; builds once
}

// shelfVariable names the shelf of another process of this test, in whose name this one runs.
const shelfVariable = "FASTREACT_BUILTIN_SHELF"

func TestMain(m *testing.M) {
	if shelf.dir = os.Getenv(shelfVariable); shelf.dir != "" {
		shelf.builds = readBuilds
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "fastreact-builtin-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shelf.dir = dir
	shelf.builds = sync.OnceValues(func() (map[string][]byte, error) {
		builds, err := buildAll("first")
		if err != nil {
			return nil, err
		}
		if _, err := peers.TakeModules(filepath.Join(dir, "cache")); err != nil {
			return nil, err
		}
		return builds, elsewhere("TestEveryModuleLoads")
	})
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// elsewhere runs a test in a process without the race detector, on this one's shelf. With it, compiling the modules
// takes minutes, and so does a suite of hundreds of fresh instances, of which none has more than one thread.
func elsewhere(test string) error {
	command := exec.Command("go", "test", "-count=1", "-run", "^"+test+"$", ".")
	command.Env = append(os.Environ(), shelfVariable+"="+shelf.dir)
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s in a process of its own: %w\n%s", test, err, text)
	}
	return nil
}

// readBuilds reads the builds of the process that started this one.
func readBuilds() (map[string][]byte, error) {
	modules := map[string][]byte{}
	for _, plugin := range builtin.Plugins() {
		module, err := os.ReadFile(filepath.Join(shelf.dir, "first", plugin.Dir, "plugin.wasm"))
		if err != nil {
			return nil, err
		}
		modules[plugin.Name] = module
	}
	return modules, nil
}

func TestEveryModuleLoads(t *testing.T) {
	for _, plugin := range builtin.Plugins() {
		load(t, plugin.Name, sdk.ReadWrite)
	}
}

// buildAll copies the sources the plugins are made of to a folder of its own and builds them there.
func buildAll(name string) (map[string][]byte, error) {
	root := filepath.Join(shelf.dir, name)
	for _, part := range []string{"go.mod", "go.sum", "sdk", "plugins/files", "plugins/investigation", "plugins/shell", "policies"} {
		if err := copyTree(filepath.Join(home, part), filepath.Join(root, part)); err != nil {
			return nil, err
		}
	}
	modules := map[string][]byte{}
	for _, plugin := range builtin.Plugins() {
		path, err := assemble.Build(context.Background(), root, plugin)
		if err != nil {
			return nil, err
		}
		if modules[plugin.Name], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return modules, nil
}

// copyTree copies a file or folder, tests left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".wasm") {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

// load loads a fresh build of a built-in plugin. The mode counts for those that ask for files.
func load(t *testing.T, name string, mode sdk.FileMode) *wasm.Plugin {
	t.Helper()
	builds, err := shelf.builds()
	if err != nil {
		t.Fatal(err)
	}
	host, err := wasm.New(wasm.Config{CacheDir: filepath.Join(shelf.dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	module := wasm.Module{Name: name, Bytes: builds[name], Builtin: true}
	if name == "files" || name == "investigation" || name == "shell" {
		module.Grants = sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/", Mode: mode}}}
	}
	if name == "shell" {
		module.Grants.Progress = &sdk.ProgressAccess{Bytes: 1000}
	}
	plugin, err := host.Load(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

func TestBuildsAreTheSameByteForByte(t *testing.T) {
	first, err := shelf.builds()
	if err != nil {
		t.Fatal(err)
	}
	second, err := buildAll("second/further/down")
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range builtin.Plugins() {
		if !bytes.Equal(first[plugin.Name], second[plugin.Name]) {
			t.Errorf("%s: two builds in different folders differ (%d and %d bytes)",
				plugin.Name, len(first[plugin.Name]), len(second[plugin.Name]))
		}
	}
}

func TestManifestNamesArePluginNames(t *testing.T) {
	builds, err := shelf.builds()
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range builtin.Plugins() {
		found, err := wasm.Inspect(builds[plugin.Name])
		if err != nil || found.Name != plugin.Name {
			t.Errorf("%s: inspected as %q (%v)", plugin.Name, found.Name, err)
		}
	}
}
