//go:build race

package meter_test

// raced says that the race detector watches. It makes the engine's compiler ten times slower and finds nothing in a
// rewriter without goroutines, so only a part of the specification is run then.
const raced = true
