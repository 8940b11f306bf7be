package scaffold

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
	"github.com/fastreact/fastreact/testdata/peers"
)

func kinds() []sdk.Kind {
	return []sdk.Kind{sdk.KindTool, sdk.KindPolicy, sdk.KindScope, sdk.KindGuard}
}

func TestNewPluginInGoPassesItsTestsAndBuildsWithoutANetwork(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	for _, kind := range kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "my-plugin")
			if _, err := Write(Wish{Dir: dir, Kind: kind, Lang: "go"}); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"test", "."}, {"vet", "."}} {
				command := exec.Command("go", args...)
				command.Dir = dir
				if text, err := command.CombinedOutput(); err != nil {
					t.Errorf("go %s: %v\n%s", args[0], err, text)
				}
			}
			if text, err := exec.Command("go", "tool", "gofumpt", "-l", dir).CombinedOutput(); err != nil || strings.Contains(string(text), "plugin.go") {
				t.Errorf("not formatted: %s (%v)", text, err)
			}
			builds(t, dir)
		})
	}
}

func TestNewPluginInCBuilds(t *testing.T) {
	peers.Need(t, "clang")
	for _, kind := range kinds() {
		dir := filepath.Join(t.TempDir(), "my-plugin")
		if _, err := Write(Wish{Dir: dir, Kind: kind, Lang: "c"}); err != nil {
			t.Fatal(err)
		}
		builds(t, dir)
	}
}

func builds(t *testing.T, dir string) {
	t.Helper()
	if _, err := build.Dir(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func TestFolderWithFilesIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "plugin.go")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	wish := Wish{Dir: dir, Name: "x", Kind: sdk.KindPolicy, Lang: "go"}
	if _, err := Write(wish); !errors.Is(err, ErrNotEmpty) {
		t.Error(err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	wish.Force = true
	if _, err := Write(wish); err != nil {
		t.Error(err)
	}
}

func TestWishThatCannotBeMetWritesNothing(t *testing.T) {
	for want, wish := range map[error]Wish{
		ErrLang: {Name: "x", Kind: sdk.KindPolicy, Lang: "rust"},
		ErrKind: {Name: "x", Kind: "hook", Lang: "go"},
		ErrName: {Name: "Not A Name", Kind: sdk.KindPolicy, Lang: "go"},
	} {
		wish.Dir = filepath.Join(t.TempDir(), "new")
		if _, err := Write(wish); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if _, err := os.Stat(wish.Dir); err == nil {
			t.Errorf("%v: the folder was made", want)
		}
	}
}
