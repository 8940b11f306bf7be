package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/sdk"
)

// dialect is one way in which host and guest talk. It is chosen when a module is loaded, holds no state, and is shared
// by all instances: what belongs to one instance lives in its speaker, what belongs to one call in the visit.
type dialect interface {
	// checkExports refuses a module that cannot speak it. Nothing was compiled yet.
	checkExports(s *shape) error
	// serve offers the dialect's own imports in the runtime of one module, once.
	serve(ctx context.Context, runtime wazero.Runtime) error
	// starts lists the exports that run when an instance begins, where they are there.
	starts() []string
	// meet returns who talks with a new instance, whose starts have run.
	meet(guest api.Module) speaker
}

// speaker talks with one instance, as long as that lives. One goroutine uses it.
type speaker interface {
	// greet makes sure that the guest speaks the dialect.
	greet(ctx context.Context) error
	// reserve asks the guest for room ahead of a call, where the dialect can do that.
	reserve(ctx context.Context) (room, error)
	// exchange places the input, runs one operation and returns a copy of the answer, of at most the visit's limit. An
	// input that fits lies in the room that was reserved. Nothing of the call may stay in the speaker. Errors are a
	// *Failure, or what the guest's end was.
	exchange(ctx context.Context, op sdk.Op, reserved room, input []byte) ([]byte, error)
}

// room is a part of a guest's memory that the guest set aside for an input; none has the size 0.
type room struct{ at, size uint32 }

// dialectOf chooses by what a module imports and exports.
func dialectOf(s *shape) dialect {
	if speaksExtism(s) {
		return newExtism(s)
	}
	return native{}
}
