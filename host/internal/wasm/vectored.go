package wasm

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// vectored bounds one vectored read or write: the guest is told that less was done than it asked for, as it must expect
// anyway, and comes again after a tick.
func vectored(ctx context.Context, f *wasiFunction, guest api.Module, stack []uint64) (errno uint64, done bool) {
	vectors, count := uint32(stack[1]), uint32(stack[2])
	if count > mostVectors {
		return errnoInvalid, true
	}
	table, ok := guest.Memory().Read(vectors, count*8)
	if !ok {
		return errnoFault, true
	}
	left := uint32(pieceBytes)
	for n := range count {
		size := table[n*8+4 : n*8+8]
		wanted := binary.LittleEndian.Uint32(size)
		if wanted <= left {
			left -= wanted
			continue
		}
		stack[2] = uint64(n + 1)
		binary.LittleEndian.PutUint32(size, left)
		f.serves.Call(ctx, guest, stack)
		binary.LittleEndian.PutUint32(size, wanted)
		return stack[0], true
	}
	return 0, false
}
