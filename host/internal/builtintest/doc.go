// Package builtintest promises that every built-in plugin passes the same suite as WebAssembly that it passes as
// native Go, that its build is reproducible, and that the host's own second opinion agrees with it. It holds tests
// only.
package builtintest
