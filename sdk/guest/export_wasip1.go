package guest

import (
	"unsafe"

	"github.com/fastreact/fastreact/sdk"
)

// memory keeps what the host was given pointers to alive for Go's collector, which never moves it.
var memory = &loans{}

type loans struct {
	given  [][]byte // buffers the host asked for, until the next call has read them
	answer []byte   // the last answer, owned by the guest until the next call
}

//go:wasmexport fastreact_abi
func abi() uint32 { return sdk.ABIVersion }

//go:wasmexport fastreact_alloc
func alloc(size uint32) uint32 {
	buffer := make([]byte, size, max(size, 1))
	memory.given = append(memory.given, buffer)
	return address(buffer)
}

//go:wasmexport fastreact_call
func call(op, ptr, size uint32) uint64 {
	input, known := memory.take(ptr, size)
	if !known {
		println("fastreact: input is not where fastreact_alloc put it")
		return 0
	}
	if served.plugin == nil {
		println("fastreact: the module serves no plugin: call guest.Serve… in an init function")
		return 0
	}
	answer, err := served.plugin.answer(sdk.Op(op), input)
	if err != nil {
		println("fastreact:", err.Error())
		return 0
	}
	memory.answer = answer
	return uint64(address(answer))<<32 | uint64(len(answer))
}

// take ends every loan and returns the buffer at ptr, as far as the host has filled it.
func (l *loans) take(ptr, size uint32) ([]byte, bool) {
	given := l.given
	l.given, l.answer = nil, nil
	for _, buffer := range given {
		if address(buffer) == ptr && uint32(len(buffer)) >= size {
			return buffer[:size:size], true
		}
	}
	return nil, false
}

func address(buffer []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(buffer))))
}
