package wasm

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

func benchmarkEvaluate(b *testing.B, plugin *Plugin) {
	question := sdk.Question{Tool: "exec", Args: json.RawMessage(`{"command":"ls -l /w"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plugin.Evaluate(b.Context(), question); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvaluateInFreshInstanceOfSmallGuest(b *testing.B) {
	benchmarkEvaluate(b, load(b, newHost(b, Config{}), Module{Bytes: wat(b, "abi/policy-allows")}))
}

func BenchmarkEvaluateInFreshInstanceOfGoGuest(b *testing.B) {
	benchmarkEvaluate(b, goPolicy(b))
}
