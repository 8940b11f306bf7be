package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Names of the Extism dialect.
const (
	exportCtors   = "__wasm_call_ctors"
	exportHaskell = "hs_init"

	extismCall     = "call"
	extismEvaluate = "evaluate"
	extismInject   = "inject"
	extismFilter   = "filter"
	extismReview   = "review"
)

// extism is the dialect of modules that were built with an Extism PDK: exported functions without parameters, and
// memory that the host holds. It never changes.
type extism struct {
	routes    map[sdk.Op]route
	tools     map[string]route // by tool name, for OpCall
	command   bool             // it starts with its constructors, not with _initialize
	unserved  error
	functions map[string]extismFunction // imports of the module
}

// route is the way of one operation: the export that is called, and what it is given.
type route struct {
	export string
	takes  func(input []byte) ([]byte, error) // nil: the whole input
}

// speaksExtism reports whether a module is none of guest ABI v1 and imports what Extism PDKs do.
func speaksExtism(s *shape) bool {
	_, native := s.exports[exportCall]
	return !native && (s.extism != nil || slices.ContainsFunc(s.imports, func(i imported) bool { return i.module == moduleExtism }))
}

// newExtism reads the ways of a module's operations. Its manifest was checked before.
func newExtism(s *shape) extism {
	manifest, err := s.decodeManifest()
	d := extism{routes: map[sdk.Op]route{}, tools: map[string]route{}, unserved: err, functions: map[string]extismFunction{}}
	switch manifest.Kind {
	case sdk.KindTool:
		_, whole := s.exports[extismCall]
		for _, tool := range manifest.Tools {
			d.tools[tool.Name] = routeOf(tool, whole)
		}
	case sdk.KindPolicy:
		d.routes[sdk.OpEvaluate] = route{export: extismEvaluate}
	case sdk.KindScope:
		d.routes[sdk.OpInject], d.routes[sdk.OpFilter] = route{export: extismInject}, route{export: extismFilter}
	case sdk.KindGuard:
		d.routes[sdk.OpReview] = route{export: extismReview}
	}
	_, reactor := s.exports[exportInitialize]
	d.command = !reactor
	known := extismFunctions()
	for _, i := range s.imports {
		if function, there := known[i.name]; there && i.module == moduleExtism {
			d.functions[i.name] = function
		}
	}
	return d
}

// routeOf finds what answers a tool: the export its manifest names, the export call, or one with the tool's own name.
func routeOf(tool sdk.ToolSpec, whole bool) route {
	switch {
	case tool.Extism != nil && tool.Extism.Input != "":
		return route{tool.Extism.Function, func(input []byte) ([]byte, error) { return textArgument(input, tool.Extism.Input) }}
	case tool.Extism != nil:
		return route{tool.Extism.Function, arguments}
	case whole:
		return route{export: extismCall}
	}
	return route{tool.Name, arguments}
}

// arguments returns the arguments of a call as the guest's input.
func arguments(input []byte) ([]byte, error) {
	var call sdk.Call
	if err := json.Unmarshal(input, &call); err != nil {
		return nil, fail(run.PluginUnavailable, "read call: %w", err)
	}
	return call.Args, nil
}

// textArgument returns the text of one argument as the guest's input; an argument that is missing is empty text.
func textArgument(input []byte, name string) ([]byte, error) {
	raw, err := arguments(input)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, fail(run.PluginUnavailable, "read arguments: %w", err)
	}
	var text string
	if value, there := given[name]; there {
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, fail(run.PluginBadAnswer, "the argument %s is no text", name)
		}
	}
	return []byte(text), nil
}

func (d extism) checkExports(s *shape) error {
	problems := []error{d.unserved}
	if memory, ok := s.exports[exportMemory]; !ok || memory.kind != kindMemory {
		problems = append(problems, errors.New("export memory is missing"))
	}
	ways := map[string]bool{}
	for _, way := range d.routes {
		ways[way.export] = true
	}
	for _, way := range d.tools {
		ways[way.export] = true
	}
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		got, there := s.signatureOf(name)
		switch {
		case !there:
			problems = append(problems, fmt.Errorf("export %s () → i32 is missing: an Extism module answers by it", name))
		case got.params != "" || got.results != "" && got.results != typeI32:
			problems = append(problems, fmt.Errorf("export %s is %s, not () → i32", name, got))
		}
	}
	for _, name := range d.starts() {
		if got, there := s.signatureOf(name); there && got != (signature{}) {
			problems = append(problems, fmt.Errorf("export %s is %s, not () → ()", name, got))
		}
	}
	return errors.Join(problems...)
}

func (d extism) starts() []string {
	if d.command {
		return []string{exportCtors}
	}
	return []string{exportInitialize}
}

// serve offers the functions that the module imports, and no others: checkImports has let them pass.
func (d extism) serve(ctx context.Context, runtime wazero.Runtime) error {
	return serveExtism(ctx, runtime, d.functions)
}

func (d extism) meet(guest api.Module) speaker {
	return &extismSpeaker{dialect: d, guest: guest, known: map[string]api.Function{}}
}

// extismSpeaker talks with one instance.
type extismSpeaker struct {
	dialect extism
	guest   api.Module
	known   map[string]api.Function // exports are dear to look up
	stack   [2]uint64
}

// greet starts the runtime of a Haskell guest; others have started already.
func (s *extismSpeaker) greet(ctx context.Context) error {
	start := s.guest.ExportedFunction(exportHaskell)
	if start == nil || len(start.Definition().ParamTypes()) != 2 || len(start.Definition().ResultTypes()) > 1 {
		return nil
	}
	_, err := start.Call(ctx, 0, 0)
	return err
}

// reserve has nothing to ask: an input lies outside of the guest until it reads it.
func (*extismSpeaker) reserve(context.Context) (room, error) { return room{}, nil }

func (s *extismSpeaker) exchange(ctx context.Context, op sdk.Op, _ room, input []byte) ([]byte, error) {
	way, err := s.way(op, input)
	if err != nil {
		return nil, err
	}
	if way.takes != nil {
		if input, err = way.takes(input); err != nil {
			return nil, err
		}
	}
	v := visitOf(ctx)
	v.extism = newExtismVisit(v.meter.limits, v.budget)
	defer v.extism.arena.release()
	if err := v.extism.begin(input); err != nil {
		return nil, err
	}
	if err := s.call(ctx, v, way.export); err != nil {
		return nil, err
	}
	return v.extism.answer(op, v.meter.limits.OutputBytes)
}

func (s *extismSpeaker) way(op sdk.Op, input []byte) (route, error) {
	way, there := s.dialect.routes[op]
	if op == sdk.OpCall {
		var call struct {
			Tool string `json:"tool"`
		}
		if err := json.Unmarshal(input, &call); err != nil {
			return route{}, fail(run.PluginUnavailable, "read call: %w", err)
		}
		way, there = s.dialect.tools[call.Tool]
	}
	if !there {
		return route{}, fail(run.PluginUnavailable, "the module has no function for operation %d", op)
	}
	return way, nil
}

// call runs an export. It fails when it returns something else than 0, or said so.
func (s *extismSpeaker) call(ctx context.Context, v *visit, name string) error {
	export := s.known[name]
	if export == nil {
		export = s.guest.ExportedFunction(name)
		s.known[name] = export
	}
	s.stack = [2]uint64{}
	if err := export.CallWithStack(ctx, s.stack[:]); err != nil {
		return err
	}
	if err := v.meter.over(ctx); err != nil {
		return err
	}
	if code := uint32(s.stack[0]); code != 0 || v.extism.failed {
		return fail(run.PluginNoAnswer, "the plugin reported that it failed, with code %d", int32(code))
	}
	return nil
}

// answer returns what the guest said. A tool that said nothing succeeded without a word.
func (v *extismVisit) answer(op sdk.Op, limit int) ([]byte, error) {
	switch {
	case len(v.output) > limit:
		return nil, fail(run.PluginOutputTooBig, "the answer has %d bytes, the limit is %d", len(v.output), limit)
	case op == sdk.OpCall:
		return resultOf(v.output), nil
	case !v.answered:
		return nil, fail(run.PluginNoAnswer, "the plugin set no output")
	}
	return v.output, nil
}

// resultOf reads a tool's output: JSON that is a result and nothing else is one, all else is text.
func resultOf(output []byte) []byte {
	var fields map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.DisallowUnknownFields()
	var result sdk.Result
	if json.Unmarshal(output, &fields) == nil && decoder.Decode(&result) == nil && isResult(fields, decoder) {
		return output
	}
	text, err := json.Marshal(sdk.Result{Content: strings.ToValidUTF8(string(output), "\uFFFD")})
	if err != nil {
		panic(fmt.Sprintf("wasm: text is always JSON: %v", err))
	}
	return text
}

func isResult(fields map[string]json.RawMessage, decoder *json.Decoder) bool {
	_, content := fields["content"]
	_, structured := fields["structured"]
	_, err := decoder.Token()
	return (content || structured) && errors.Is(err, io.EOF)
}
