package wasm

import (
	"bytes"
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// native is guest ABI v1: the guest gives room for the input and points to its answer.
type native struct{}

func (native) checkExports(s *shape) error { return s.checkExports() }

func (native) serve(context.Context, wazero.Runtime) error { return nil }

func (native) starts() []string { return []string{exportInitialize} }

func (native) meet(guest api.Module) speaker {
	return &nativeSpeaker{
		memory: guest.Memory(), version: guest.ExportedFunction(exportABI),
		alloc: guest.ExportedFunction(exportAlloc), call: guest.ExportedFunction(exportCall),
	}
}

// nativeSpeaker keeps the exports of one instance, which are dear to look up.
type nativeSpeaker struct {
	memory               api.Memory
	version, alloc, call api.Function
	stack                [3]uint64 // parameters and result of a call
}

func (s *nativeSpeaker) greet(ctx context.Context) error {
	version, err := s.ask(ctx, s.version)
	if err != nil {
		return err
	}
	if uint32(version) != sdk.ABIVersion {
		return fail(run.PluginUnavailable, "the module speaks guest ABI %d, the host speaks %d", uint32(version), sdk.ABIVersion)
	}
	return nil
}

// reservedBytes is the room that is asked for ahead: most questions fit, and entering the guest once more is spared.
const reservedBytes = 4096

func (s *nativeSpeaker) reserve(ctx context.Context) (room, error) {
	at, err := s.ask(ctx, s.alloc, reservedBytes)
	if err != nil || uint32(at) == 0 {
		return room{}, err
	}
	return room{uint32(at), reservedBytes}, nil
}

func (s *nativeSpeaker) exchange(ctx context.Context, op sdk.Op, reserved room, input []byte) ([]byte, error) {
	ptr, err := s.place(ctx, reserved, input)
	if err != nil {
		return nil, err
	}
	packed, err := s.ask(ctx, s.call, uint64(op), uint64(ptr), uint64(len(input)))
	if err != nil {
		return nil, err
	}
	return s.unpack(packed, visitOf(ctx).meter.limits.OutputBytes)
}

// place puts the input where the guest wants it.
func (s *nativeSpeaker) place(ctx context.Context, reserved room, input []byte) (uint32, error) {
	if len(input) <= int(reserved.size) && s.memory.Write(reserved.at, input) {
		return reserved.at, nil
	}
	ptr, err := s.ask(ctx, s.alloc, uint64(len(input)))
	if err != nil {
		return 0, err
	}
	if uint32(ptr) == 0 {
		return 0, fail(run.PluginOutOfMemory, "fastreact_alloc gave no room for %d bytes of input", len(input))
	}
	if !s.memory.Write(uint32(ptr), input) {
		return 0, fail(run.PluginBadAnswer, "fastreact_alloc gave an address out of bounds")
	}
	return uint32(ptr), nil
}

func (s *nativeSpeaker) unpack(packed uint64, limit int) ([]byte, error) {
	ptr, size := uint32(packed>>32), uint32(packed)
	switch {
	case packed == 0:
		return nil, fail(run.PluginNoAnswer, "the plugin reported that it failed")
	case uint64(size) > uint64(limit):
		return nil, fail(run.PluginOutputTooBig, "the answer has %d bytes, the limit is %d", size, limit)
	}
	view, ok := s.memory.Read(ptr, size)
	if !ok {
		return nil, fail(run.PluginBadAnswer, "the answer lies out of bounds")
	}
	return bytes.Clone(view), nil
}

// ask calls an export with one result.
func (s *nativeSpeaker) ask(ctx context.Context, export api.Function, params ...uint64) (uint64, error) {
	copy(s.stack[:], params)
	if err := export.CallWithStack(ctx, s.stack[:]); err != nil {
		return 0, err
	}
	return s.stack[0], nil
}
