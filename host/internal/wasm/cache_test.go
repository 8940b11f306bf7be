package wasm

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

func loadCached(t *testing.T, dir string) *Plugin {
	t.Helper()
	plugin := load(t, newHost(t, Config{CacheDir: dir}), Module{Bytes: wat(t, "abi/policy-allows")})
	if err := runAny(t.Context(), plugin); err != nil {
		t.Fatal(err)
	}
	return plugin
}

// compiledFile returns the one file of compiled code below dir.
func compiledFile(t *testing.T, dir string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && filepath.Ext(path) == "" {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no compiled code in %s: %v", dir, err)
	}
	return found
}

func TestCompiledCodeIsKeptInAPrivateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	loadCached(t, dir)
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	compiledFile(t, dir)
}

func TestSecondHostUsesTheCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	loadCached(t, dir)
	before, err := os.Stat(compiledFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	after, err := os.Stat(compiledFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the module was compiled again")
	}
}

func TestDamagedCacheEntryIsCompiledAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	loadCached(t, dir)
	file := compiledFile(t, dir)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string][]byte{
		"cut": whole[:len(whole)/2], "empty": {}, "flipped": flipped(whole, len(whole)/2), "huge count": flipped(whole, 20),
	} {
		if err := os.WriteFile(file, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		loadCached(t, dir)
		if mended, err := os.ReadFile(file); err != nil || len(mended) != len(whole) {
			t.Errorf("%s: the entry has %d bytes, not %d: %v", name, len(mended), len(whole), err)
		}
	}
}

func flipped(data []byte, at int) []byte {
	out := append([]byte{}, data...)
	out[at] ^= 0xff
	return out
}

func TestCacheThatOthersCouldWriteIsEmptied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(dir, "planted")
	if err := os.WriteFile(planted, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	if _, err := os.Stat(planted); err == nil {
		t.Error("what was planted is still there")
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is still open: %v", err)
	}
}

func TestCacheOfSomebodyElseIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		peers.Missing(t, "root, to give a folder away")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{CacheDir: dir}); err == nil {
		t.Error("it was accepted")
	}
}

func TestCacheBehindALinkIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{CacheDir: dir}); err == nil {
		t.Error("it was accepted")
	}
}

func TestConcurrentLoadsCompileOnce(t *testing.T) {
	host := newHost(t, Config{CacheDir: filepath.Join(t.TempDir(), "cache")})
	module := Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true}
	plugins := make([]*Plugin, 8)
	var loaders sync.WaitGroup
	for i := range plugins {
		loaders.Go(func() {
			plugin, err := host.Load(t.Context(), module)
			if err != nil {
				t.Error(err)
				return
			}
			plugins[i] = plugin
		})
	}
	loaders.Wait()
	for _, plugin := range plugins {
		if plugin != nil && plugin.engine != plugins[0].engine {
			t.Error("it was compiled twice")
		}
	}
}
