package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

func TestCommittedVectorsAreWhatTheirSourcesSay(t *testing.T) {
	root, modules := filepath.Join("..", "..", ".."), peerModules(t)
	if _, err := os.Stat(filepath.Join(modules, "wabt")); err != nil {
		peers.Missing(t, "the npm package wabt 1.0.37, in "+modules)
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
	peers.Need(t, "node")
	return peers.Modules(t)
}
