package wasm

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

// benchmarkEvaluate asks about a call of some 500 bytes, one caller after the other.
func benchmarkEvaluate(b *testing.B, plugin *Plugin) {
	question := warmUps(sdk.KindPolicy)[0].input
	b.ReportAllocs()
	var spent Spent
	for b.Loop() {
		if _, err := plugin.Exchange(b.Context(), sdk.OpEvaluate, CallContext{Spent: &spent}, question); err != nil {
			b.Fatal(err)
		}
	}
	g := plugin.Gauges()
	b.ReportMetric(float64(spent.Gas), "gas/op")
	b.ReportMetric(float64(spent.HostCalls), "hostcalls/op")
	b.ReportMetric(float64(g.Made), "made")
	b.ReportMetric(float64(g.Restored), "restored")
	b.ReportMetric(float64(g.RestoreTime.Nanoseconds())/float64(max(g.Restored, 1)), "ns/restore")
}

func BenchmarkVerdictOfASmallGuest(b *testing.B) {
	for _, mode := range []Mode{ModeSnapshot, ModeFresh} {
		b.Run(string(mode), func(b *testing.B) {
			benchmarkEvaluate(b, load(b, newHost(b, Config{}), Module{Bytes: wat(b, "abi/policy-allows"), Mode: mode}))
		})
	}
}

func BenchmarkVerdictOfAGoGuest(b *testing.B) {
	module, err := goGuests.policy()
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []Mode{ModeSnapshot, ModeFresh} {
		b.Run(string(mode), func(b *testing.B) {
			benchmarkEvaluate(b, load(b, newHost(b, Config{CacheDir: goGuests.cacheDir}), Module{Bytes: module, Mode: mode}))
		})
	}
}

func BenchmarkNativeVerdict(b *testing.B) {
	question := warmUps(sdk.KindPolicy)[0].input
	b.ReportAllocs()
	for b.Loop() {
		var q sdk.Question
		if err := json.Unmarshal(question, &q); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(sdk.Opinion{Action: sdk.Allow, Reason: q.Tool}); err != nil {
			b.Fatal(err)
		}
	}
}
