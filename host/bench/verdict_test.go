package bench

import "testing"

// BenchmarkVerdict lets every contestant give the same verdict on the same question of about 500 bytes, in turns, and
// reports medians as ratios to the peers'. Each contestant starts from JSON bytes and ends with JSON bytes. A plugin's
// state is fresh on each call: its lease, its ticks and the restoring of its memory are part of the time.
func BenchmarkVerdict(b *testing.B) {
	race := newRace(b,
		native(b), celProgram(b), opaQuery(b), goSDK(b),
		plugin(b, "c", "guest-c", true), plugin(b, "go", "guest-go", true),
		plugin(b, "c-at-once", "guest-c", false), plugin(b, "go-at-once", "guest-go", false),
	)
	race.run(b, questions(b))
	race.report(b, "c/native", "c", "native")
	race.report(b, "c/cel", "c", "cel")
	race.report(b, "go/opa", "go", "opa")
	race.report(b, "c/extism", "c", "extism")
	race.report(b, "go/extism", "go", "extism")
}
