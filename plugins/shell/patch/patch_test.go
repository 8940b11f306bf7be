package patch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnotherSourceIsNotPatched(t *testing.T) {
	good := "// notice\n\n" + condition + "\npackage interp\n\n" + pipe
	for name, text := range map[string]string{
		"other condition": strings.Replace(good, "!js", "!js && !plan9", 1),
		"other pipe":      strings.Replace(good, "os.Pipe()", "newOne()", 1),
		"twice":           good + pipe,
		"empty":           "",
	} {
		if _, err := files(sourceWith(t, text)); err == nil || !strings.Contains(err.Error(), "the source changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	changed, err := files(sourceWith(t, good))
	if err != nil || !strings.Contains(string(changed["interp/stdin_os.go"]), newCondition) || len(changed) != 2 {
		t.Errorf("%d files, %v", len(changed), err)
	}
}

func TestASourceThatHasAVariantOfItsOwnIsNotPatched(t *testing.T) {
	source := sourceWith(t, condition+pipe)
	if err := os.WriteFile(filepath.Join(source, "interp", "stdin_wasip1.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := files(source); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
}

func sourceWith(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "interp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "interp", "stdin_os.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
