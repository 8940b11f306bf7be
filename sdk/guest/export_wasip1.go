package guest

import (
	"unsafe"

	"github.com/fastreact/fastreact/sdk"
)

// memory keeps what the host was given pointers to alive for Go's collector, which never moves it.
var memory = &loans{given: map[uint32][]byte{}}

type loans struct {
	given  map[uint32][]byte // buffers the host asked for, by address, until the next call has read them
	answer []byte            // the last answer, owned by the guest until the next call
}

//go:wasmexport fastreact_abi
func abi() uint32 { return sdk.ABIVersion }

//go:wasmexport fastreact_alloc
func alloc(size uint32) uint32 {
	buffer := make([]byte, max(size, 1))
	at := address(buffer)
	memory.given[at] = buffer[:size]
	return at
}

//go:wasmexport fastreact_call
func call(op, ptr, size uint32) uint64 {
	input, known := memory.given[ptr]
	clear(memory.given)
	memory.answer = nil
	if !known || uint32(len(input)) < size {
		println("fastreact: input is not where fastreact_alloc put it")
		return 0
	}
	answer, err := Dispatch(served.plugin, sdk.Op(op), input[:size])
	if err != nil {
		println("fastreact:", err.Error())
		return 0
	}
	memory.answer = answer
	return uint64(address(answer))<<32 | uint64(len(answer))
}

func address(buffer []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(buffer))))
}
