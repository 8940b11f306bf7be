// Package sdk holds the words that the host and its plugins share: calls, results, identities, scopes, opinions,
// manifests, and the interfaces a plugin author implements.
//
// It imports the standard library only and builds for GOOS=wasip1, so that a plugin is ordinary Go: the same code
// runs in go test and, through sdk/guest, as a sandboxed WebAssembly module. What a module may touch is decided by
// the host, never here.
package sdk
