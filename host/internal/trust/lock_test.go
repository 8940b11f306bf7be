package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestALockComesBackSorted(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	lock := Lock{"b.wasm": DigestOf([]byte("b")), "a/c.wasm": DigestOf([]byte("c"))}
	if err := lock.Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := strings.Index(string(text), "a/c.wasm"), strings.Index(string(text), "b.wasm"); a < 0 || a > b {
		t.Errorf("not sorted:\n%s", text)
	}
	again, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lock, again); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAPinIsFoundHoweverThePathIsSpelled(t *testing.T) {
	digest := DigestOf(nil)
	whole, err := filepath.Abs("p/a.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for _, spelled := range []string{"p/a.wasm", "./p/a.wasm", "p/../p/a.wasm", whole} {
		if got, there := (Lock{"p/a.wasm": digest}).Pin(spelled); !there || got != digest {
			t.Errorf("%s is not pinned", spelled)
		}
	}
	if _, there := (Lock{"p/a.wasm": digest}).Pin("q/a.wasm"); there {
		t.Error("another folder's file is pinned")
	}
}

func TestAnUnclearLockIsRefused(t *testing.T) {
	digest := string(DigestOf(nil))
	one := `{"version": 1, "plugins": {"a": "` + digest + `"`
	for name, text := range map[string]string{
		"empty": ``, "no JSON": `a: b`, "no plugins": `{"version": 1}`, "null": `{"version": 1, "plugins": null}`,
		"version": `{"version": 2, "plugins": {}}`, "unknown key": `{"version": 1, "plugins": {}, "more": 1}`,
		"other case": `{"Version": 1, "plugins": {}}`, "behind": one + `}} x`, "cut": one,
		"twice": one + `, "a": "` + digest + `"}}`, "plugins twice": one + `}, "plugins": {}}`,
		"one file": one + `, "./a": "` + digest + `"}}`, "short": `{"version": 1, "plugins": {"a": "sha256:00"}}`,
		"no path": `{"version": 1, "plugins": {"": "` + digest + `"}}`, "number": `{"version": 1, "plugins": {"a": 1}}`,
		"long": one + strings.Repeat(" ", MaxLockBytes) + `}}`,
	} {
		if _, err := ParseLock([]byte(text)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte(`{"version": 1, "plugins": {"a": "sha256:` + strings.Repeat("0", 64) + `"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		lock, err := ParseLock(text)
		if err != nil {
			return
		}
		written, err := lock.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseLock(written); err != nil || !cmp.Equal(lock, again) {
			t.Errorf("%q comes back as %v, %v", text, again, err)
		}
	})
}
