package agenttools_test

import (
	"testing"

	"github.com/fastreact/fastreact/testdata/pagetest"
)

// TestThePageInABrowser walks from the launch address to a decision and its end, and shows the page what a hostile
// workspace, a changed catalogue and a service in trouble would.
func TestThePageInABrowser(t *testing.T) {
	chromium := pagetest.Browser(t)
	pagetest.Run(t, 23, pagetest.Bench(t, "page", "testdata"), "browser.mjs", append(newStandIn(t), chromium)...)
}
