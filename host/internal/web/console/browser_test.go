package console_test

import (
	"testing"

	"github.com/fastreact/fastreact/testdata/pagetest"
)

// TestThePageInABrowser plays the seed's "Frontend success" and "Frontend protocol violation", each violation by itself, and
// failures, disconnects and a phone.
func TestThePageInABrowser(t *testing.T) {
	chromium := pagetest.Browser(t)
	pagetest.Run(t, 34, pagetest.Bench(t, "page", "testdata"), "browser.mjs", append(newStandIn(t), chromium)...)
}
