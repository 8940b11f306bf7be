// Package contract holds what every build of the investigation plugin must do: facts about what it reads, and about
// snapshots and arguments that it must not believe. It knows the plugin only by the guest ABI.
package contract

import (
	"slices"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// Suite returns the contract of the investigation plugin.
func Suite() plugintest.Suite {
	return plugintest.Suite{Name: "investigation", Cases: slices.Concat(
		cases(searching()), cases(looking()), cases(linking()), cases(excerpts()), cases(working()), cases(asking()),
		cases(doubting()), cases(bounding()), files(),
	)}
}
