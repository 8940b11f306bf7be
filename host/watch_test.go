package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAChangeIsActedOnOnceAndOnlyWhenItHasComeToRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.wasm")
	acts, age := 0, time.Unix(1_000_000, 0)
	write := func() {
		age = age.Add(time.Second)
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, age, age); err != nil {
			t.Fatal(err)
		}
	}
	look := func() sight { return lookAt([]string{file, file + ".sig"}) }
	w := &watcher{look: look, act: func() { acts++ }, acted: look(), last: look()}
	expect := func(want int, what string) {
		t.Helper()
		if w.tick(); acts != want {
			t.Errorf("%s: acted %d times, want %d", what, acts, want)
		}
	}
	expect(0, "nothing changed")
	write()
	expect(0, "the file is new")
	write()
	expect(0, "it is still being written")
	expect(1, "it rests")
	expect(1, "it still rests")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expect(1, "it is gone")
	expect(2, "it stays away")
}

func TestWhatChangesWhileAChangeIsActedOnIsAChangeAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.wasm")
	look := func() sight { return lookAt([]string{file}) }
	w := &watcher{look: look, acted: look(), last: look()}
	acts := 0
	w.act = func() {
		acts++
		if acts == 1 {
			if err := os.WriteFile(file, []byte("second"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		w.tick()
	}
	if acts != 2 {
		t.Errorf("acted %d times, want 2", acts)
	}
}
