// Package plugintest lets one suite judge every build of a plugin: the Go code in go test, and the same code as a
// WebAssembly module.
//
// A suite talks to a plugin only through the JSON payloads of the guest ABI. How an operation reaches the plugin is
// the driver's business: sdk/guest has a native driver, a plugin host has one for modules.
package plugintest
