package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Missing ends a test that needs a program which is not there. It is skipped by name; in CI, where every peer is
// installed, it fails.
func Missing(t testing.TB, peer string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("peer not installed: " + peer)
	}
	t.Skip("peer not installed: " + peer)
}

// Need ends a test, as Missing does, where one of the programs is not installed.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := find(program); err != nil {
			Missing(t, program)
		}
	}
}

// Modules returns the folder of the npm packages that .ci/peers pins. It may not be there.
func Modules(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("FASTREACT_NODE_MODULES"); folder != "" {
		return absolute(t, folder)
	}
	for folder := absolute(t, "."); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return filepath.Join(folder, ".ci", "peers", "node_modules")
		}
	}
	t.Fatal("the test runs in no module")
	return ""
}

func absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Node returns the path of a Node.js that runs every npm package, 24 where it is installed.
func Node(t testing.TB) string {
	t.Helper()
	if path := filepath.Join(Modules(t), ".bin", "node"); exec.Command(path, "--version").Run() == nil {
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "node")
	}
	return path
}
