// Package contract holds what every build of the files plugin must do: facts about reading, writing, editing and
// searching, and about everything that must not work. It knows the plugin only by the guest ABI.
package contract

import (
	"slices"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// Suite returns the contract of the files plugin.
func Suite() plugintest.Suite {
	return plugintest.Suite{Name: "files", Cases: slices.Concat(
		cases(reading()), cases(writing()), cases(editing()), cases(looking()), cases(searching()), cases(refusing()),
		bounds(), links(),
	)}
}
