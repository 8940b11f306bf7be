package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// TestThePageInABrowser plays the seed's "Frontend success" and "Frontend protocol violation", each violation by itself, and
// failures, disconnects and a phone.
func TestThePageInABrowser(t *testing.T) {
	const chromium = "/usr/bin/chromium"
	if _, err := os.Stat(chromium); err != nil {
		peers.Missing(t, "chromium")
	}
	if _, err := os.Stat(filepath.Join(peers.Modules(t), "playwright-core")); err != nil {
		peers.Missing(t, "playwright-core (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	runProgram(t, 25, bench(t), "browser.mjs", append(newStandIn(t), "CHROMIUM="+chromium)...)
}
