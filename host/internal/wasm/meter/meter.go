package meter

import (
	"errors"
	"fmt"
)

// Names that belong to the meter. A module that uses them already is refused.
const (
	// ImportModule is the module name of the one import that is added.
	ImportModule = "fastreact:meter/1"
	// TickFunction is its name: tick(reason i32, fuel i64) i64.
	TickFunction = "tick"
	// FuelGlobal exports the fuel that is left, a mutable i64. It starts at 0.
	FuelGlobal = reserved + "fuel"
	// DepthGlobal exports how much deeper calls may be nested, a mutable i32. It starts at Options.CallDepth.
	DepthGlobal = reserved + "depth"

	reserved = "fastreact:meter/"
)

// Reasons of a tick.
const (
	// FuelSpent means that fuel fell below zero; the answer is the fuel to go on with.
	FuelSpent = 0
	// HostCall means that an imported function is about to be called; fuel may be below zero as well.
	HostCall = 1
	// TooDeep means that calls are nested too deeply. The guest ends whatever the answer is.
	TooDeep = 2
)

// HostCallFuel is what a call of an imported function costs beside the instruction.
const HostCallFuel = 64

var (
	// ErrMalformed reports bytes that are not a WebAssembly module.
	ErrMalformed = errors.New("malformed module")
	// ErrUnsupported reports a feature that plugins cannot use.
	ErrUnsupported = errors.New("not supported")
	// ErrReserved reports a module that uses the meter's own names.
	ErrReserved = errors.New("name is reserved")
	// ErrTooLarge reports a module that needs more than its limits allow.
	ErrTooLarge = errors.New("over the limit")
)

// Revision names what Rewrite writes. It changes whenever the same module and options give anything else than before:
// what was kept of another revision is of no use.
const Revision = 1

// Options are the limits written into a module. The zero value allows no memory, no table entry and no nested call.
type Options struct {
	MemoryPages  uint32 // the most pages (64 KiB) of each memory of the module
	TableEntries uint32 // the most entries of all tables of the module together, and of its passive elements
	CallDepth    uint32 // weight of the functions that may be active at once
}

// Module is a metered module.
type Module struct {
	Bytes   []byte
	Globals []string // export names of the author's mutable globals, in the order of their indices

	// Unrestorable is the first thing in the module that restoring memory and globals does not undo; empty: there is none.
	Unrestorable string
}

// Rewrite meters a module. It neither keeps nor changes the bytes it is given. Its work is linear in their number, and
// the result is at most 32 times as large, and 4 KiB.
func Rewrite(module []byte, o Options) (Module, error) {
	m, err := read(module, o)
	if err != nil {
		return Module{}, err
	}
	bytes, err := m.write()
	if err != nil {
		return Module{}, err
	}
	if len(bytes) > 32*len(module)+4096 {
		return Module{}, fmt.Errorf("metered module of %d bytes: %w", len(bytes), ErrTooLarge)
	}
	return Module{Bytes: bytes, Globals: m.mutableNames(), Unrestorable: m.unrestorable}, nil
}
