package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// moduleExtism is where an Extism guest imports from.
const moduleExtism = "extism:host/env"

// extismLogLevel is what get_log_level answers whatever the service logs, so that a pure guest learns nothing: PDKs
// hand over what is of level debug and above.
const extismLogLevel = 1

// extismVisit is what one call of an Extism guest shares with the host. One goroutine uses it.
type extismVisit struct {
	arena    arena
	input    []byte // a block of the arena
	inputAt  uint64
	output   []byte // part of a block; it survives when the guest frees the block
	answered bool   // output_set was called
	failed   bool   // error_set was called
	vars     map[string][]byte
	response extismResponse
}

// newExtismVisit bounds what is shared by the memory that the plugin may have of its own.
func newExtismVisit(limits sdk.Limits, budget *memoryBudget) *extismVisit {
	return &extismVisit{arena: newArena(int(limits.MemoryPages)*pageSize, budget)}
}

// begin places the input of a call.
func (v *extismVisit) begin(input []byte) error {
	if size := uint64(len(input)); !v.arena.fits(size) || !v.arena.afford(size) {
		return fail(run.PluginOutOfMemory, "there is no room for %d bytes of input", len(input))
	}
	v.inputAt = v.arena.put(input)
	v.input = v.arena.whole(v.inputAt)
	return nil
}

// extismFunction is one import that the host serves. Signatures use one byte per value, as in the module.
type extismFunction struct {
	capability string // "" is the base set
	signature
	do func(ctx context.Context, v *visit, stack []uint64)
}

// extismFunctions lists the whole guest ABI of Extism.
func extismFunctions() map[string]extismFunction {
	all := map[string]extismFunction{}
	for _, part := range []map[string]extismFunction{extismMemory(), extismExchange(), extismSettings(), extismLogs(), extismWeb()} {
		for name, function := range part {
			all[name] = function
		}
	}
	return all
}

func extismMemory() map[string]extismFunction {
	length := func(_ context.Context, v *visit, s []uint64) { s[0] = v.extism.arena.length(s[0]) }
	load := func(size uint64) func(context.Context, *visit, []uint64) {
		return func(_ context.Context, v *visit, s []uint64) { s[0] = word(v.extism.arena.span(s[0], size)) }
	}
	store := func(size uint64) func(context.Context, *visit, []uint64) {
		return func(_ context.Context, v *visit, s []uint64) { setWord(v.extism.arena.span(s[0], size), s[1]) }
	}
	return map[string]extismFunction{
		"alloc":         {"", signature{typeI64, typeI64}, func(_ context.Context, v *visit, s []uint64) { s[0] = v.extism.arena.alloc(s[0]) }},
		"free":          {"", signature{typeI64, ""}, func(_ context.Context, v *visit, s []uint64) { v.extism.arena.free(s[0]) }},
		"length":        {"", signature{typeI64, typeI64}, length},
		"length_unsafe": {"", signature{typeI64, typeI64}, length},
		"load_u8":       {"", signature{typeI64, typeI32}, load(1)},
		"load_u64":      {"", signature{typeI64, typeI64}, load(8)},
		"store_u8":      {"", signature{typeI64 + typeI32, ""}, store(1)},
		"store_u64":     {"", signature{typeI64 + typeI64, ""}, store(8)},
	}
}

func extismExchange() map[string]extismFunction {
	load := func(size uint64) func(context.Context, *visit, []uint64) {
		return func(_ context.Context, v *visit, s []uint64) { s[0] = word(v.extism.inputSpan(s[0], size)) }
	}
	return map[string]extismFunction{
		"input_length":   {"", signature{"", typeI64}, func(_ context.Context, v *visit, s []uint64) { s[0] = uint64(len(v.extism.input)) }},
		"input_offset":   {"", signature{"", typeI64}, func(_ context.Context, v *visit, s []uint64) { s[0] = v.extism.inputAt }},
		"input_load_u8":  {"", signature{typeI64, typeI32}, load(1)},
		"input_load_u64": {"", signature{typeI64, typeI64}, load(8)},
		"output_set": {"", signature{typeI64 + typeI64, ""}, func(_ context.Context, v *visit, s []uint64) {
			v.extism.setOutput(s[0], s[1])
		}},
		"error_set": {"", signature{typeI64, ""}, func(_ context.Context, v *visit, s []uint64) { v.setError(s[0]) }},
	}
}

// inputSpan returns a part of the input, by its place in the input.
func (v *extismVisit) inputSpan(at, size uint64) []byte {
	if length := uint64(len(v.input)); at > length || size > length-at {
		panic(fail(run.PluginTrapped, "%d bytes at %d of the input were asked for, it has %d", size, at, length))
	}
	return v.input[at : at+size]
}

func (v *extismVisit) setOutput(at, size uint64) {
	v.answered, v.output = true, nil
	if size > 0 {
		v.output = v.arena.span(at, size)
	}
}

// setError notes that the guest failed. What it says about it is for the author, in the plugin's log, and stands in no
// error. Offset 0 takes the error back.
func (v *visit) setError(at uint64) {
	text := v.extism.arena.whole(at)
	v.extism.failed = at != 0
	if v.extism.failed {
		v.writeLine(text)
	}
}

// writeLine adds one line to the plugin's log.
func (v *visit) writeLine(text []byte) {
	v.log.write(text)
}

func extismLogs() map[string]extismFunction {
	all := map[string]extismFunction{
		"get_log_level": {"", signature{"", typeI32}, func(_ context.Context, _ *visit, s []uint64) { s[0] = extismLogLevel }},
	}
	for _, level := range []string{"trace", "debug", "info", "warn", "error"} {
		all["log_"+level] = extismFunction{capabilityLog, signature{typeI64, ""}, func(_ context.Context, v *visit, s []uint64) {
			v.writeLine(v.extism.arena.whole(s[0]))
			v.extism.arena.spend(s[0])
		}}
	}
	return all
}

// serveExtism instantiates the guest ABI of Extism.
func serveExtism(ctx context.Context, runtime wazero.Runtime, functions map[string]extismFunction) error {
	builder := runtime.NewHostModuleBuilder(moduleExtism)
	for name, function := range functions {
		do := function.do
		builder.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			do(ctx, extismOf(ctx), stack)
		}), []api.ValueType(function.params), []api.ValueType(function.results)).Export(name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// startBytes is what a guest may share while it starts.
const startBytes = 64 << 10

// extismOf returns the running visit. What a guest shares while it starts is gone before its first call.
func extismOf(ctx context.Context) *visit {
	v := visitOf(ctx)
	if v.extism == nil {
		v.extism = &extismVisit{arena: newArena(startBytes, nil)}
	}
	return v
}
