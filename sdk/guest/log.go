//go:build !wasip1

package guest

// Log writes one line to the host's log, where operators see it at debug level under the plugin's name. The host
// bounds how much of it one call may write and drops the rest. Natively it does nothing.
func Log(string) {}
