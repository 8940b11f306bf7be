package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestCommittedVectorsAreWhatTheirSourcesSay(t *testing.T) {
	root, modules := filepath.Join("..", "..", ".."), peerModules(t)
	if _, err := os.Stat(filepath.Join(modules, "wabt")); err != nil {
		missingPeer(t, "the npm package wabt 1.0.37, in "+modules)
	}
	command := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "abi", "assemble.mjs"), "--check")
	command.Dir = root
	command.Env = append(os.Environ(), "FASTREACT_NODE_MODULES="+modules)
	if text, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// peerModules is the folder of the npm packages that .ci/peers pins. They are run by node.
func peerModules(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		missingPeer(t, "node")
	}
	modules := os.Getenv("FASTREACT_NODE_MODULES")
	if modules == "" {
		modules = filepath.Join("..", "..", "..", ".ci", "peers", "node_modules")
	}
	modules, err := filepath.Abs(modules)
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

// missingPeer ends a test that needs a program which is not there. In CI that is a failure.
func missingPeer(t testing.TB, peer string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("peer not installed: " + peer)
	}
	t.Skip("peer not installed: " + peer)
}
