package guest

import (
	"context"

	"github.com/fastreact/fastreact/sdk"
)

func send(_ context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	return readHTTP(ask(hostSend, writeHTTP(request)))
}

//go:wasmimport fastreact:http/1 send
func hostSend(ptr, size uint32) uint64
