package meter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// instantiate gives a module under a name, or says how it fails.
func (w *specWorld) instantiate(file, name string) (api.Module, string) {
	raw := readFile(w.t, filepath.Join(w.folder, file))
	if w.metered {
		metered, err := meter.Rewrite(raw, generous)
		if err != nil {
			return nil, "refused by the meter: " + err.Error()
		}
		raw = metered.Bytes
	}
	ctx := w.t.Context()
	compiled, err := w.runtime.CompileModule(ctx, raw)
	if err != nil {
		return nil, "not valid"
	}
	m, err := w.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(name))
	if err != nil {
		return nil, "not instantiable: " + trap(err)
	}
	w.all = append(w.all, m)
	return m, "is there"
}

// refit does what a host must not do: it goes on with instances that trapped, as the scripts want it.
func (w *specWorld) refit() {
	for _, m := range w.all {
		m.ExportedGlobal(meter.DepthGlobal).(api.MutableGlobal).Set(uint64(generous.CallDepth))
	}
}

// trap is the engine's name of a trap, without the place where it happened.
func trap(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if at := strings.Index(text, "wasm error: "); at >= 0 {
		return text[at:]
	}
	return "error"
}

func (w *specWorld) at(c specCommand) api.Module {
	if c.Action.Module != "" {
		return w.named[c.Action.Module]
	}
	return w.last
}

func (w *specWorld) get(c specCommand) string {
	m := w.at(c)
	if m == nil {
		return "meets no module"
	}
	g := m.ExportedGlobal(c.Action.Field)
	return "gives " + normal(g.Type(), g.Get())
}

func (w *specWorld) invoke(c specCommand) string {
	m := w.at(c)
	if m == nil {
		return "meets no module"
	}
	f := m.ExportedFunction(c.Action.Field)
	var args []uint64
	for _, arg := range c.Action.Args {
		args = append(args, arg.bits()...)
	}
	results, err := f.Call(context.WithoutCancel(w.t.Context()), args...)
	if err != nil && w.metered {
		w.refit()
	}
	switch {
	case errors.Is(err, errDeep), err != nil && strings.Contains(err.Error(), "stack overflow"):
		return "exhausts the stack"
	case err != nil:
		return "traps: " + trap(err)
	}
	return "gives " + c.normalResults(f.Definition().ResultTypes(), results)
}

// valueTypeVector is a vector's type, which the engine's api does not name.
const valueTypeVector = 0x7b

func (c specCommand) normalResults(types []api.ValueType, results []uint64) string {
	var texts []string
	for i, t := range types {
		if t != valueTypeVector {
			texts = append(texts, normal(t, results[0]))
			results = results[1:]
			continue
		}
		lane := ""
		if i < len(c.Expected) {
			lane = c.Expected[i].Lane
		}
		texts = append(texts, normalVector(lane, results[0]), normalVector(lane, results[1]))
		results = results[2:]
	}
	return strings.Join(texts, " ")
}

// normal makes equal what may differ from run to run: the payload of a NaN, and the address behind a reference.
func normal(t api.ValueType, bits uint64) string {
	switch {
	case t == api.ValueTypeI32:
		bits = uint64(uint32(bits))
	case t == api.ValueTypeF32 && math.IsNaN(float64(math.Float32frombits(uint32(bits)))):
		return "nan"
	case t == api.ValueTypeF32:
		bits = uint64(uint32(bits))
	case t == api.ValueTypeF64 && math.IsNaN(math.Float64frombits(bits)):
		return "nan"
	case t == 0x70 && bits != 0:
		return "a function"
	}
	return strconv.FormatUint(bits, 16)
}

func normalVector(lane string, half uint64) string {
	switch lane {
	case "f64":
		return normal(api.ValueTypeF64, half)
	case "f32":
		return normal(api.ValueTypeF32, half&math.MaxUint32) + normal(api.ValueTypeF32, half>>32)
	}
	return strconv.FormatUint(half, 16)
}

// specValue is an argument or an expected result. A vector's value is a list.
type specValue struct {
	Type  string `json:"type"`
	Lane  string `json:"lane_type"`
	Value any    `json:"value"`
}

func (v specValue) bits() []uint64 {
	switch value := v.Value.(type) {
	case []any:
		return vectorBits(v.Lane, value)
	case string:
		return []uint64{numberBits(v.Type, value)}
	}
	return []uint64{0}
}

func numberBits(kind, text string) uint64 {
	switch {
	case text == "null":
		return 0
	case strings.HasPrefix(text, "nan"): // of the kind that a test expects
		if strings.HasPrefix(kind, "f32") {
			return 0x7fc00000
		}
		return 0x7ff8000000000000
	case strings.HasPrefix(text, "-"):
		n, _ := strconv.ParseInt(text, 10, 64)
		if kind == "i32" {
			return uint64(uint32(n))
		}
		return uint64(n)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("value %q of type %s", text, kind))
	}
	if kind == "externref" {
		n++ // the engine's 0 is null
	}
	return n
}

func vectorBits(lane string, values []any) []uint64 {
	width := 128 / len(values)
	halves := make([]uint64, 2)
	for i, value := range values {
		bits := numberBits(lane, value.(string))
		if width < 64 {
			bits &= 1<<width - 1
		}
		halves[i*width/64] |= bits << (i * width % 64)
	}
	return halves
}
