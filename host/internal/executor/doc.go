// Package executor runs work on a fixed number of goroutines. It promises that no more runs and waits at a time than
// was said, that whoever asks for more hears so at once, that no work runs on the goroutine of who asks for it, and
// that a panic in it harms nobody else.
//
// What the work is, and what a refusal means, is left to whoever asks.
package executor
