package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// peerModules is the folder of the npm packages that .ci/peers pins.
func peerModules(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FASTREACT_NODE_MODULES")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", ".ci", "peers", "node_modules")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// npmPeer returns the path of a program that comes with an npm package, such as "mcp-server-everything", and skips
// the test where it is not installed.
func npmPeer(t *testing.T, program string) string {
	t.Helper()
	path := filepath.Join(peerModules(t), ".bin", program)
	if _, err := os.Stat(path); err != nil {
		missingPeer(t, program+" (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	return path
}

// nodePeer returns the path of a Node.js that runs every peer, 24 where it is installed.
func nodePeer(t *testing.T) string {
	t.Helper()
	if path := filepath.Join(peerModules(t), ".bin", "node"); exec.Command(path, "--version").Run() == nil {
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		missingPeer(t, "node")
	}
	return path
}

// missingPeer ends a test that needs a program which is not there. In CI that is a failure.
func missingPeer(t *testing.T, peer string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("peer not installed: " + peer)
	}
	t.Skip("peer not installed: " + peer)
}
