// Package guest turns a plugin into a WebAssembly module: it exports guest ABI v1 and translates each call into the
// author's typed function. The same path runs natively through Dispatch, so one suite tests both.
//
// A module's main package registers its plugin before the host calls it. A reactor never runs main, so this is the
// one place where a Go init function is right:
//
//	func init() { guest.ServePolicy(readonly.New()) }
//	func main() {}
//
// Build it with sdk/build, which also appends the manifest. Keep to print-free code: package os brings file imports
// with it, and a module that imports them must be granted files.
package guest
