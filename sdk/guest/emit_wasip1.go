package guest

import (
	"context"
	"runtime"
	"unsafe"

	"github.com/fastreact/fastreact/sdk"
)

// listened sends reports to the host.
func listened(ctx context.Context) context.Context {
	return sdk.WithProgress(ctx, func(p sdk.Progress) {
		text, err := writeProgress(p)
		if err != nil {
			return // a number that is no JSON: not worth a call's end
		}
		hostEmit(address(text), uint32(len(text)))
		runtime.KeepAlive(unsafe.SliceData(text))
	})
}

//go:wasmimport fastreact:emit/1 chunk
func hostEmit(ptr, size uint32) uint64
