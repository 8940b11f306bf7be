package wasm

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func newHost(t testing.TB, cfg Config) *Host {
	t.Helper()
	host, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return host
}

func load(t testing.TB, host *Host, module Module) *Plugin {
	t.Helper()
	module.AllowUnpinned = true
	plugin, err := host.Load(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

func TestGoPolicyAnswers(t *testing.T) {
	plugin := load(t, newHost(t, Config{}), Module{Bytes: goGuest(t, "policy")})
	got, err := plugin.Evaluate(t.Context(), sdk.Question{Tool: "exec", Args: json.RawMessage(`{"command":"rm -r <x>"}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := sdk.Opinion{Action: sdk.Deny, Reason: "it removes", PatternMatched: "rm "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
