package wasm

import (
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// TestAGuestThatSpinsWhenItIsWarmedUpIsLoadedCold would take minutes if the warm-up were as long as a call may be.
func TestAGuestThatSpinsWhenItIsWarmedUpIsLoadedCold(t *testing.T) {
	limits := sdk.Limits{Wall: sdk.Duration(4 * time.Minute)}
	plugin := load(t, newHost(t, Config{}), Module{Bytes: wat(t, "hostile/spin-in-call"), AllowUnpinned: true, Limits: limits})
	if plugin.warm {
		t.Error("it counts as warm")
	}
}
