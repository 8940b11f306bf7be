package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// keptEntry loads a module with a new cache, and returns the folder and the module's entry in it.
func keptEntry(t *testing.T) (dir string, entry cacheEntry) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cache")
	loadCached(t, dir)
	seals, err := filepath.Glob(filepath.Join(dir, "*.sha256"))
	if err != nil || len(seals) != 1 {
		t.Fatalf("seals %v: %v", seals, err)
	}
	return dir, cacheEntry{strings.TrimSuffix(seals[0], ".sha256")}
}

// readKept takes the file of a metered module apart.
func readKept(t *testing.T, entry cacheEntry) (kept keptModule, code []byte) {
	t.Helper()
	content, err := os.ReadFile(entry.meteredFile())
	if err != nil {
		t.Fatal(err)
	}
	line, code, _ := bytes.Cut(content, []byte("\n"))
	if err := json.Unmarshal(line, &kept); err != nil {
		t.Fatal(err)
	}
	return kept, code
}

// plant makes an entry say something else, and seals it as the host would.
func plant(t *testing.T, entry cacheEntry, edit func(*keptModule)) {
	t.Helper()
	kept, code := readKept(t, entry)
	edit(&kept)
	module := meter.Module{Bytes: code, Globals: kept.Globals, Unrestorable: kept.Unrestorable}
	if err := errors.Join(entry.keepMetered(kept.Origin, module), entry.seal()); err != nil {
		t.Fatal(err)
	}
}

func TestASecondHostTakesTheMeteredModuleFromTheCache(t *testing.T) {
	dir, entry := keptEntry(t)
	plant(t, entry, func(kept *keptModule) { kept.Unrestorable = "what was planted" })
	_, err := newHost(t, Config{CacheDir: dir}).Load(t.Context(), Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true})
	want := "what was planted cannot be undone by a snapshot; the operator may write mode: fresh"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the module was metered again: %v", err)
	}
}

func TestAModuleThatNoSnapshotRestoresLoadsFresh(t *testing.T) {
	dir, entry := keptEntry(t)
	plant(t, entry, func(kept *keptModule) { kept.Unrestorable = "what was planted" })
	host := newHost(t, Config{CacheDir: dir})
	module := Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true, Mode: ModeFresh}
	if _, err := host.Load(t.Context(), module); err != nil {
		t.Fatal(err)
	}
	module.Mode = ModeSnapshot // the code is compiled already
	if _, err := host.Load(t.Context(), module); err == nil {
		t.Error("it was loaded to be restored by snapshots")
	}
}

func TestARefusedSnapshotLeavesNoCode(t *testing.T) {
	dir, entry := keptEntry(t)
	plant(t, entry, func(kept *keptModule) { kept.Unrestorable = "what was planted" })
	host := newHost(t, Config{CacheDir: dir})
	if _, err := host.Load(t.Context(), Module{Bytes: wat(t, "abi/policy-allows"), AllowUnpinned: true}); err == nil {
		t.Fatal("it was loaded")
	}
	if left := len(host.engines.known); left > 0 {
		t.Errorf("%d engines are left", left)
	}
}

func TestAMeteredModuleOfAnotherMakingIsMadeAgain(t *testing.T) {
	for name, edit := range map[string]func(*origin){
		"an older meter": func(o *origin) { o.Revision-- },
		"another module": func(o *origin) { o.Digest = strings.Repeat("0", 64) },
		"other limits":   func(o *origin) { o.Options.CallDepth++ },
	} {
		dir, entry := keptEntry(t)
		want, code := readKept(t, entry)
		plant(t, entry, func(kept *keptModule) { edit(&kept.Origin); kept.Unrestorable = "what was planted" })
		loadCached(t, dir)
		got, again := readKept(t, entry)
		if diff := cmp.Diff(want, got); diff != "" || !bytes.Equal(code, again) {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestADamagedMeteredModuleIsMadeAgain(t *testing.T) {
	for name, damage := range map[string]func(whole []byte) []byte{
		"cut":     func(whole []byte) []byte { return whole[:len(whole)/2] },
		"empty":   func([]byte) []byte { return nil },
		"flipped": func(whole []byte) []byte { return flipped(whole, len(whole)-1) },
		"renamed": func(whole []byte) []byte { return bytes.Replace(whole, []byte("global"), []byte("GLOBAL"), 1) },
	} {
		dir, entry := keptEntry(t)
		whole, err := os.ReadFile(entry.meteredFile())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(entry.meteredFile(), damage(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		loadCached(t, dir)
		if mended, err := os.ReadFile(entry.meteredFile()); err != nil || !bytes.Equal(whole, mended) {
			t.Errorf("%s: %d bytes of %d are as before: %v", name, len(mended), len(whole), err)
		}
	}
}

func TestAnEntryWithoutItsMeteredModuleIsMadeAgain(t *testing.T) {
	dir, entry := keptEntry(t)
	if err := errors.Join(os.Remove(entry.meteredFile()), entry.seal()); err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	readKept(t, entry)
}

func TestAnEntryThatDidNotChangeKeepsItsSeal(t *testing.T) {
	dir, entry := keptEntry(t)
	before, err := os.Stat(entry.sealFile())
	if err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	after, err := os.Stat(entry.sealFile())
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("it was sealed again")
	}
}

func TestCodeThatIsMissingIsCompiledAndSealedAgain(t *testing.T) {
	dir, entry := keptEntry(t)
	if err := errors.Join(os.Remove(compiledFile(t, dir)), entry.seal()); err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	compiledFile(t, dir)
	sum, err := os.ReadFile(entry.sealFile())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hashDir(entry.dir); err != nil || got != string(sum) {
		t.Errorf("the seal is %s, the entry %s: %v", sum, got, err)
	}
}

func TestOnlyTheOwnerReadsAMeteredModule(t *testing.T) {
	_, entry := keptEntry(t)
	info, err := os.Stat(entry.meteredFile())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %o", got)
	}
}

func TestAMeteredModuleThatAnotherProcessKeptFirstIsNoTrouble(t *testing.T) {
	dir, entry := keptEntry(t)
	want, code := readKept(t, entry)
	err := entry.keepMetered(want.Origin, meter.Module{Bytes: code, Globals: want.Globals})
	if err = errors.Join(err, entry.seal()); err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	got, again := readKept(t, entry)
	if diff := cmp.Diff(want, got); diff != "" || !bytes.Equal(code, again) {
		t.Errorf("the entry changed (-want +got):\n%s", diff)
	}
}
