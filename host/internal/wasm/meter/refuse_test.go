package meter_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// with changes a draft of an empty function.
func with(change func(*draft)) []byte {
	d := function(nil, nil, nil)
	d.memories = [][]byte{{0, 1}}
	d.tables = [][]byte{{funcref, 0, 1}}
	d.globals = [][]byte{{i32, 1, 0x41, 0, 0x0b}}
	change(&d)
	return d.bytes()
}

func body(instructions ...byte) []byte {
	return with(func(d *draft) { d.codes = [][]byte{code(nil, instructions...)} })
}

func TestRewriteRefuses(t *testing.T) {
	cases := []struct {
		name   string
		module []byte
		want   error
	}{
		{"nothing", nil, meter.ErrMalformed},
		{"a text", []byte("(module)"), meter.ErrMalformed},
		{"a section that is cut short", []byte("\x00asm\x01\x00\x00\x00\x01\x05\x01"), meter.ErrMalformed},
		{"sections out of order", join(draft{}.bytes(), []byte{3, 1, 0, 1, 1, 0}), meter.ErrMalformed},
		{"a section twice", join(draft{}.bytes(), []byte{1, 1, 0, 1, 1, 0}), meter.ErrMalformed},
		{"an unknown section", join(draft{}.bytes(), []byte{13, 1, 0}), meter.ErrUnsupported},
		{"functions without code", with(func(d *draft) { d.codes = nil }), meter.ErrMalformed},
		{"code that ends early", body(0x0b), meter.ErrMalformed},
		{"code that does not end", body(0x02, 0x40), meter.ErrMalformed},

		{"a global of the meter's", body(0x23, 1, 0x1a), meter.ErrMalformed},
		{"a write to a global of the meter's", body(0x41, 0, 0x24, 1), meter.ErrMalformed},
		{"a global of the meter's in a constant", with(func(d *draft) {
			d.globals = append(d.globals, []byte{i64, 0, 0x23, 2, 0x0b})
		}), meter.ErrMalformed},
		{"a global of the meter's in an offset", with(func(d *draft) { d.data = [][]byte{{0, 0x23, 1, 0x0b, 0}} }), meter.ErrMalformed},
		{"a global of the meter's in an export", with(func(d *draft) {
			d.exports = append(d.exports, export("x", 3, 1))
		}), meter.ErrMalformed},
		{"a function of the meter's", body(0x10, 1), meter.ErrMalformed},
		{"a function of the meter's in a table", with(func(d *draft) { d.elements = [][]byte{{0, 0x41, 0, 0x0b, 1, 1}} }), meter.ErrMalformed},
		{"a function of the meter's at the start", with(func(d *draft) { d.start = []byte{1} }), meter.ErrMalformed},
		{"a function of the meter's in an export", with(func(d *draft) {
			d.exports = append(d.exports, export("x", 0, 1))
		}), meter.ErrMalformed},
		{"a local of the meter's", body(0x03, 0x40, 0x20, 0, 0x1a, 0x0b), meter.ErrMalformed},
		{"a label of the meter's", body(0x0c, 1), meter.ErrMalformed},
		{"a label of the meter's in a table", body(0x41, 0, 0x0e, 1, 0, 1), meter.ErrMalformed},
		{"a type of the meter's", body(0x02, 1, 0x0b), meter.ErrMalformed},

		{"an export with a reserved name", with(func(d *draft) {
			d.exports = append(d.exports, export(meter.FuelGlobal, 3, 0))
		}), meter.ErrReserved},
		{"an import of a tick", with(func(d *draft) {
			d.imports = [][]byte{join(sized([]byte(meter.ImportModule)), sized([]byte(meter.TickFunction)), []byte{0, 0})}
		}), meter.ErrReserved},

		{"more memory than allowed", with(func(d *draft) { d.memories = [][]byte{{0, 17}} }), meter.ErrTooLarge},
		{"a larger table than allowed", with(func(d *draft) { d.tables = append(d.tables, []byte{externref, 0, 17}) }), meter.ErrTooLarge},
		{"tables that are larger together than allowed", with(func(d *draft) {
			d.tables = [][]byte{{funcref, 0, 9}, {externref, 0, 8}}
		}), meter.ErrTooLarge},
		{"100,001 tables", with(func(d *draft) { d.tables = slices.Repeat([][]byte{{funcref, 0, 0}}, 100_001) }), meter.ErrTooLarge},
		{"100,001 data segments", with(func(d *draft) { d.data = slices.Repeat([][]byte{{1, 0}}, 100_001) }), meter.ErrTooLarge},
		{"100,001 element segments", with(func(d *draft) { d.elements = slices.Repeat([][]byte{{1, 0, 0}}, 100_001) }), meter.ErrTooLarge},
		{"more passive elements than allowed", with(func(d *draft) {
			nine := join([]byte{1, 0}, list(slices.Repeat([][]byte{{0}}, 9)...))
			d.elements = [][]byte{nine, nine}
		}), meter.ErrTooLarge},
		{"memory that cannot be", with(func(d *draft) { d.memories = [][]byte{{1, 1, 0x81, 0x80, 0x04}} }), meter.ErrMalformed},
		{"shared memory", with(func(d *draft) { d.memories = [][]byte{{3, 1, 1}} }), meter.ErrUnsupported},
		{"memory of 64 bits", with(func(d *draft) { d.memories = [][]byte{{4, 1}} }), meter.ErrUnsupported},
		{"an atomic instruction", body(0xfe, 0x03, 0), meter.ErrUnsupported},
		{"a tail call", body(0x12, 0), meter.ErrUnsupported},
		{"an exception", body(0x08, 0), meter.ErrUnsupported},
		{"a typed reference", with(func(d *draft) { d.tables = [][]byte{{0x63, 0, 0, 1}} }), meter.ErrUnsupported},
		{"a vector instruction in a long form", body(0xfd, 0xcd, 0x80, 0x00), meter.ErrUnsupported},
		{"50,001 locals", with(func(d *draft) {
			d.codes = [][]byte{code([][]byte{join(number(50_001), []byte{i32})})}
		}), meter.ErrUnsupported},
		{"100,001 functions", with(func(d *draft) { d.functions = slices.Repeat([][]byte{{0}}, 100_001) }), meter.ErrTooLarge},
		{"1,001 parameters", with(func(d *draft) { d.types = append(d.types, signature(make([]byte, 1_001), nil)) }), meter.ErrUnsupported},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := meter.Rewrite(c.module, meter.Options{MemoryPages: 16, TableEntries: 16, CallDepth: 1})
			if !errors.Is(err, c.want) {
				t.Errorf("refused with %v, want %v", err, c.want)
			}
		})
	}
}

func TestAModuleSaysWhatASnapshotOfItDoesNotUndo(t *testing.T) {
	null := []byte{0xd0, funcref}
	zero := []byte{0x41, 0}
	data := func(instructions ...byte) []byte {
		return with(func(d *draft) {
			d.data = [][]byte{{1, 0}}
			d.codes = [][]byte{code(nil, instructions...)}
		})
	}
	drop := []byte{0xfc, 0x09, 0}
	cases := []struct {
		name   string
		module []byte
		lasts  bool
	}{
		{"table.set", body(join(zero, null, []byte{0x26, 0})...), true},
		{"table.grow", body(join(null, zero, []byte{0xfc, 0x0f, 0, 0x1a})...), true},
		{"table.fill", body(join(zero, null, zero, []byte{0xfc, 0x11, 0})...), true},
		{"table.copy", body(join(zero, zero, zero, []byte{0xfc, 0x0e, 0, 0})...), true},
		{"table.init", body(join(zero, zero, zero, []byte{0xfc, 0x0c, 0, 0})...), true},
		{"elem.drop", body(0xfc, 0x0d, 0), true},
		{"a mutable reference", with(func(d *draft) { d.globals = [][]byte{{externref, 1, 0xd0, externref, 0x0b}} }), true},
		{"a mutable vector", with(func(d *draft) {
			d.globals = [][]byte{join([]byte{v128, 1, 0xfd, 0x0c}, make([]byte, 16), []byte{0x0b})}
		}), true},
		{"data.drop beside memory.init", data(join(drop, zero, zero, zero, []byte{0xfc, 0x08, 0, 0})...), true},

		{"data.drop alone", data(drop...), false},
		{"memory.init alone", data(join(zero, zero, zero, []byte{0xfc, 0x08, 0, 0})...), false},
		{"table.get", body(join(zero, []byte{0x25, 0, 0x1a})...), false},
		{"table.size", body(0xfc, 0x10, 0, 0x1a), false},
		{"a constant reference", with(func(d *draft) { d.globals = [][]byte{{externref, 0, 0xd0, externref, 0x0b}} }), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := meter.Rewrite(c.module, generous)
			if err != nil || (m.Unrestorable != "") != c.lasts {
				t.Errorf("says %q, error %v; want it to say something: %v", m.Unrestorable, err, c.lasts)
			}
		})
	}
}
