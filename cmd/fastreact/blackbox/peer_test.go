package blackbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// npmPeer returns the path of a program that comes with an npm package, such as "mcp-server-everything", and skips
// the test where it is not installed.
func npmPeer(t *testing.T, program string) string {
	t.Helper()
	path := filepath.Join(peers.Modules(t), ".bin", program)
	if _, err := os.Stat(path); err != nil {
		peers.Missing(t, program+" (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	return path
}
