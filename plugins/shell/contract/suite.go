// Package contract holds what every build of the shell plugin must do: scripts from everyday use that must print what
// bash prints, facts about its results, and everything that must not work. It knows the plugin only by the guest ABI.
package contract

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

// Suite returns the contract of the shell plugin.
func Suite() plugintest.Suite {
	return plugintest.Suite{Name: "shell", Cases: slices.Concat(everyday(), results(), absent(), walls())}
}

// answer is what came of one command.
type answer struct {
	sdk.Result
	Status    int
	Truncated bool
	TimedOut  bool
}

// run runs one command.
func run(t *testing.T, plugin *plugintest.Plugin, command string) answer {
	t.Helper()
	return runWith(t, plugin, map[string]any{"command": command})
}

func runWith(t *testing.T, plugin *plugintest.Plugin, args map[string]any) answer {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Result: plugin.Call(t, "exec", string(raw))}
	if len(a.Structured) == 0 {
		return a
	}
	var state struct {
		ExitCode  int  `json:"exit_code"`
		Truncated bool `json:"truncated"`
		TimedOut  bool `json:"timed_out"`
	}
	if err := json.Unmarshal(a.Structured, &state); err != nil {
		t.Fatalf("%s: %v", a.Structured, err)
	}
	a.Status, a.Truncated, a.TimedOut = state.ExitCode, state.Truncated, state.TimedOut
	return a
}
