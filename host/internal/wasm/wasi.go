package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// What one call of a WASI function may do before the guest is asked to go on: it is a host call, and no tick ends it.
const (
	pieceBytes   = 1 << 20 // of reading, writing and randomness
	mostVectors  = 1024    // of one vectored read or write
	mostEvents   = 1024    // of one poll
	mostFiles    = 256     // open at once
	mostPathName = 4096    // bytes
)

// WASI error numbers.
const (
	errnoBadFile     = 8
	errnoFault       = 21
	errnoInterrupted = 27
	errnoInvalid     = 28
	errnoTooManyOpen = 33
	errnoNameTooLong = 37
)

// wasiFunction is one function of the sandbox's own WASI.
type wasiFunction struct {
	serves api.GoModuleFunction
	guard  wasiGuard // nil: nothing to guard
}

// wasiGuard looks at a call before the function serves it. done means that it was answered with errno.
type wasiGuard func(ctx context.Context, f *wasiFunction, guest api.Module, stack []uint64) (errno uint64, done bool)

// serveWASI instantiates WASI: the sandbox's functions, each refused when the call is over, and those bounded that a
// guest could make work for long.
func serveWASI(ctx context.Context, runtime wazero.Runtime) error {
	original := runtime.NewHostModuleBuilder("wasi original")
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(original)
	compiled, err := original.Compile(ctx)
	if err != nil {
		return err
	}
	builder, guards := runtime.NewHostModuleBuilder(moduleWASI), wasiGuards()
	for name, definition := range compiled.ExportedFunctions() {
		serves, ok := definition.GoFunction().(api.GoModuleFunction)
		if !ok {
			return fmt.Errorf("WASI function %s is not served as expected", name)
		}
		f := &wasiFunction{serves, guards[name]}
		builder.NewFunctionBuilder().WithGoModuleFunction(f, definition.ParamTypes(), definition.ResultTypes()).Export(name)
	}
	_, err = builder.Instantiate(ctx)
	return err
}

// Call implements api.GoModuleFunction.
func (f *wasiFunction) Call(ctx context.Context, guest api.Module, stack []uint64) {
	if f.guard != nil {
		if errno, done := f.guard(ctx, f, guest, stack); done {
			stack[0] = errno
			return
		}
	}
	f.serves.Call(ctx, guest, stack)
}

func wasiGuards() map[string]wasiGuard {
	return map[string]wasiGuard{
		"fd_read": vectored, "fd_pread": vectored, "fd_write": vectored, "fd_pwrite": vectored,
		"random_get": inPieces, "poll_oneoff": shortPoll,
		"fd_close": closing, "fd_renumber": renumber, "path_open": opening,
		"fd_fdstat_set_flags": lasting, "fd_fdstat_set_rights": lasting,
		"path_create_directory": named(2), "path_filestat_get": named(3), "path_filestat_set_times": named(3),
		"path_readlink": named(2), "path_remove_directory": named(2), "path_unlink_file": named(2),
		"path_link": named(3, 6), "path_rename": named(2, 5), "path_symlink": named(1, 4),
	}
}

// named refuses names that are too long before they are copied. Their lengths stand at these places.
func named(lengths ...int) wasiGuard {
	return func(_ context.Context, _ *wasiFunction, _ api.Module, stack []uint64) (errno uint64, done bool) {
		for _, at := range lengths {
			if uint32(stack[at]) > mostPathName {
				return errnoNameTooLong, true
			}
		}
		return 0, false
	}
}

// lasting marks a call that changes something outside memory and globals.
func lasting(ctx context.Context, _ *wasiFunction, _ api.Module, _ []uint64) (errno uint64, done bool) {
	visitOf(ctx).touched = true
	return 0, false
}

func opening(ctx context.Context, f *wasiFunction, guest api.Module, stack []uint64) (errno uint64, done bool) {
	v := visitOf(ctx)
	v.touched = true
	switch {
	case uint32(stack[3]) > mostPathName:
		return errnoNameTooLong, true
	case v.opened >= mostFiles:
		return errnoTooManyOpen, true
	}
	f.serves.Call(ctx, guest, stack)
	if stack[0] == 0 {
		v.opened++
	}
	return stack[0], true
}

func closing(ctx context.Context, f *wasiFunction, guest api.Module, stack []uint64) (errno uint64, done bool) {
	v := visitOf(ctx)
	v.touched = true
	f.serves.Call(ctx, guest, stack)
	if stack[0] == 0 {
		v.opened--
	}
	return stack[0], true
}

// renumber keeps the table of descriptors small: it is as long as the highest of them.
func renumber(ctx context.Context, _ *wasiFunction, _ api.Module, stack []uint64) (errno uint64, done bool) {
	visitOf(ctx).touched = true
	if uint32(stack[1]) >= 2*mostFiles {
		return errnoBadFile, true
	}
	return 0, false
}

func shortPoll(_ context.Context, _ *wasiFunction, _ api.Module, stack []uint64) (errno uint64, done bool) {
	if uint32(stack[2]) > mostEvents {
		return errnoInvalid, true
	}
	return 0, false
}

// inPieces fills the guest's buffer with randomness, and looks at the clock between the pieces.
func inPieces(ctx context.Context, f *wasiFunction, guest api.Module, stack []uint64) (errno uint64, done bool) {
	at, left := uint32(stack[0]), uint32(stack[1])
	for left > pieceBytes {
		stack[0], stack[1] = uint64(at), pieceBytes
		f.serves.Call(ctx, guest, stack)
		if errno := stack[0]; errno != 0 {
			return errno, true
		}
		if visitOf(ctx).meter.over(ctx) != nil {
			return errnoInterrupted, true
		}
		at, left = at+pieceBytes, left-pieceBytes
	}
	stack[0], stack[1] = uint64(at), uint64(left)
	return 0, false
}
