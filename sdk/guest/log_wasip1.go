package guest

import (
	"runtime"
	"unsafe"
)

// Log writes one line to the host's log, where operators see it at debug level under the plugin's name. The host
// bounds how much of it one call may write and drops the rest. Natively it does nothing.
func Log(line string) {
	if line == "" {
		return
	}
	text := []byte(line)
	hostLog(address(text), uint32(len(text)))
	runtime.KeepAlive(unsafe.SliceData(text))
}

//go:wasmimport fastreact:log/1 write
func hostLog(ptr, size uint32) uint64
