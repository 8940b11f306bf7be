package guest

import "context"

// WithMemory changes nothing in a module: the host keeps the values.
func WithMemory(ctx context.Context) context.Context { return ctx }

func keep(_ context.Context, op kvOp, request []byte) (kvPair, error) {
	switch op {
	case kvGet:
		return readKV(ask(hostGet, request))
	case kvSet:
		return readKV(ask(hostSet, request))
	}
	return readKV(ask(hostDelete, request))
}

//go:wasmimport fastreact:kv/1 get
func hostGet(ptr, size uint32) uint64

//go:wasmimport fastreact:kv/1 set
func hostSet(ptr, size uint32) uint64

//go:wasmimport fastreact:kv/1 delete
func hostDelete(ptr, size uint32) uint64
