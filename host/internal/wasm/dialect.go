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
	// exchange places the input, runs one operation and returns a copy of the answer, of at most the visit's limit.
	// Nothing of the call may stay in the speaker. Errors are a *Failure, or what the guest's end was.
	exchange(ctx context.Context, op sdk.Op, input []byte) ([]byte, error)
}

// dialectOf chooses by what a module imports and exports.
func dialectOf(s *shape) dialect {
	if speaksExtism(s) {
		return newExtism(s)
	}
	return native{}
}
