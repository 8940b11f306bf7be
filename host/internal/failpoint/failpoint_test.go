package failpoint_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// build compiles the program and returns its bytes.
func build(t *testing.T, more ...string) []byte {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "fastreact")
	command := exec.Command("go", append(append([]string{"build", "-o", binary}, more...), "./cmd/fastreact")...)
	command.Dir = "../../.."
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// marks are what a program with points at which it may fail has in it: the names of its variables, and what reads them.
func marks() []string {
	return []string{
		"FASTREACT_FAILPOINTS", "FASTREACT_FAILPOINTS_OFF", "FASTREACT_FAILPOINTS_LOG", "FASTREACT_FAILPOINTS_CLOCK",
		"is no failpoint, such as", "host/internal/failpoint.read",
	}
}

func TestAReleasedProgramHoldsNoFailpoints(t *testing.T) {
	released, made := build(t), build(t, "-tags", "failpoints")
	for _, mark := range marks() {
		if !bytes.Contains(made, []byte(mark)) {
			t.Errorf("a program that is built to fail has no %q: this test looks for the wrong thing", mark)
		}
		if bytes.Contains(released, []byte(mark)) {
			t.Errorf("a released program has %q in it", mark)
		}
	}
}
