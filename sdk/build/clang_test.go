package build

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

const sourceInC = `#include "fastreact.h"

static void evaluate(fr_value question, fr_writer *answer) { fr_opinion(answer, question.size ? "allow" : "deny", ""); }
FASTREACT_POLICY(evaluate)
`

func folderInC(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"plugin.c": source, ManifestFile: manifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPluginInCGivesTheSameBytesWhereverItLies(t *testing.T) {
	peers.Need(t, "clang")
	first, second := buildBytes(t, folderInC(t, sourceInC)), buildBytes(t, folderInC(t, sourceInC))
	if !bytes.Equal(first, second) {
		t.Error("the modules differ")
	}
	if len(first) > 32<<10 {
		t.Errorf("the module has %d bytes", len(first))
	}
	if !bytes.Contains(first, []byte("fr__export_call")) {
		t.Error("the names that traces need are gone")
	}
}

func TestPluginInCMayUseTheCLibrary(t *testing.T) {
	peers.Need(t, "clang")
	source := strings.Replace(sourceInC, "\n", "\n#include <stdlib.h>\n#include <string.h>\n", 1)
	source = strings.Replace(source, `question.size ?`, `question.size && strlen(strcpy(malloc(9), "library")) ?`, 1)
	if module := buildBytes(t, folderInC(t, source)); !bytes.Contains(module, []byte("_initialize")) {
		t.Error("the library is not initialised")
	}
}

func TestSourceInCThatDoesNotCompileShowsTheCompilersWords(t *testing.T) {
	peers.Need(t, "clang")
	for source, want := range map[string]string{
		strings.Replace(sourceInC, "fr_opinion", "fr_opinoin", 1):       "fr_opinoin",
		strings.Replace(sourceInC, "FASTREACT_POLICY(evaluate)", "", 1): "FASTREACT_POLICY",
		strings.Replace(sourceInC, "fastreact.h", "nowhere.h", 1):       "nowhere.h",
		strings.Replace(sourceInC, "\n", "\nextern int nobody(void);\n", 1) + "\nint unused(void) { return nobody(); }\n__attribute__((export_name(\"x\"))) int x(void) { return nobody(); }\n": "nobody",
	} {
		if _, err := Dir(t.Context(), folderInC(t, source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMissingCompilerSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Dir(t.Context(), folderInC(t, sourceInC))
	if !errors.Is(err, ErrNoClang) || !strings.Contains(err.Error(), "apt-get install clang lld wasi-libc") {
		t.Error(err)
	}
}

func TestFolderWithoutSourcesBuildsNothing(t *testing.T) {
	dir := folderInC(t, sourceInC)
	if err := os.Remove(filepath.Join(dir, "plugin.c")); err != nil {
		t.Fatal(err)
	}
	if _, err := Dir(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "neither Go nor C") {
		t.Error(err)
	}
}

// A Go guest pays for every package that starts with it: in bytes to compile, and in memory that each call puts back.
func TestSmallGoPolicyStaysSmall(t *testing.T) {
	module := buildBytes(t, project(t, manifest, source))
	if len(module) > 2_700_000 {
		t.Errorf("it has %d bytes: does package sdk keep a compiled pattern or import something new?", len(module))
	}
}
