package meter_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

func TestRewritingIsDeterministicAndLeavesItsInputAlone(t *testing.T) {
	module := readFile(t, "testdata/work.wasm")
	before := slices.Clone(module)
	first, second := rewrite(t, module, generous), rewrite(t, module, generous)
	if !bytes.Equal(first, second) {
		t.Error("two results differ")
	}
	if !bytes.Equal(module, before) {
		t.Error("the input was changed")
	}
}

func TestMeteredModuleIsNotMeteredTwice(t *testing.T) {
	once := rewrite(t, readFile(t, "testdata/work.wasm"), generous)
	if _, err := meter.Rewrite(once, generous); !errors.Is(err, meter.ErrReserved) {
		t.Errorf("refused with %v", err)
	}
}

func TestMutableGlobalsAreExportedInTheirOrder(t *testing.T) {
	metered, err := meter.Rewrite(with(func(d *draft) {
		d.globals = [][]byte{
			{i32, 1, 0x41, 7, 0x0b},
			{i32, 0, 0x41, 8, 0x0b},
			{i64, 1, 0x42, 9, 0x0b},
			join([]byte{f64, 1, 0x44}, make([]byte, 8), []byte{0x0b}),
		}
	}), generous)
	if err != nil {
		t.Fatal(err)
	}
	m := start(t, metered.Bytes)
	var got []string
	for _, name := range metered.Globals {
		g := m.ExportedGlobal(name)
		_, mutable := g.(api.MutableGlobal)
		got = append(got, fmt.Sprint(api.ValueTypeName(g.Type()), g.Get(), mutable))
	}
	if diff := cmp.Diff([]string{"i327 true", "i649 true", "f640 true"}, got); diff != "" {
		t.Errorf("globals (-want +got):\n%s", diff)
	}
}

// growth is a module whose functions grow a memory or one of two tables, and give the old size or -1.
func growth(memory, first, second []byte) []byte {
	i32ToI32 := signature([]byte{i32}, []byte{i32})
	return draft{
		types:     [][]byte{i32ToI32},
		functions: [][]byte{{0}, {0}, {0}},
		tables:    [][]byte{first, second},
		memories:  [][]byte{memory},
		exports:   [][]byte{export("memory", 0, 0), export("first", 0, 1), export("second", 0, 2)},
		codes: [][]byte{
			code(nil, 0x20, 0, 0x40, 0),
			code(nil, 0xd0, funcref, 0x20, 0, 0xfc, 0x0f, 0),
			code(nil, 0xd0, externref, 0x20, 0, 0xfc, 0x0f, 1),
		},
	}.bytes()
}

func TestMaximaAreWrittenAndSmallerOnesStay(t *testing.T) {
	limits := meter.Options{MemoryPages: 16, TableEntries: 100, CallDepth: 1}
	cases := []struct {
		name        string
		declared    []byte // limits of the memory and of both tables
		memory, all int32  // how much the memory and each of the tables, which share what is allowed, can grow from 1
	}{
		{"undeclared", []byte{0, 1}, 15, 49},
		{"larger", []byte{1, 1, 110}, 15, 49},
		{"smaller", []byte{1, 1, 5}, 4, 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			module := growth(c.declared, join([]byte{funcref}, c.declared), join([]byte{externref}, c.declared))
			m := start(t, rewrite(t, module, limits))
			for name, most := range map[string]int32{"memory": c.memory, "first": c.all, "second": c.all} {
				if got := call(t, m, name, uint64(most)+1); int32(got[0]) != -1 {
					t.Errorf("%s grows by %d", name, most+1)
				}
				if got := call(t, m, name, uint64(most)); int32(got[0]) != 1 {
					t.Errorf("%s does not grow by %d", name, most)
				}
			}
		})
	}
}

func call(t testing.TB, m api.Module, name string, args ...uint64) []uint64 {
	t.Helper()
	results, err := m.ExportedFunction(name).Call(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// movers has memory.fill and memory.copy as functions, over 64 pages.
func movers() []byte {
	three := signature([]byte{i32, i32, i32}, nil)
	return draft{
		types:     [][]byte{three},
		functions: [][]byte{{0}, {0}},
		memories:  [][]byte{{0, 64}},
		exports:   [][]byte{export("fill", 0, 0), export("copy", 0, 1), export("memory", 2, 0)},
		codes: [][]byte{
			code(nil, 0x20, 0, 0x20, 1, 0x20, 2, 0xfc, 0x0b, 0),
			code(nil, 0x20, 0, 0x20, 1, 0x20, 2, 0xfc, 0x0a, 0, 0),
		},
	}.bytes()
}

func TestLargeFillsAndCopiesInPiecesDoWhatTheyDidInOne(t *testing.T) {
	const size = 64 << 16
	plain, metered := start(t, movers()), start(t, rewrite(t, movers(), generous))
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	traps := 0
	for range 300 {
		plain.Memory().Write(0, noise)
		metered.Memory().Write(0, noise)
		name := []string{"fill", "copy"}[random.IntN(2)]
		args := []uint64{uint64(random.IntN(size)), uint64(random.IntN(size)), uint64(random.IntN(size / 2))}
		if random.IntN(3) == 0 { // overlap
			args[1] = args[0] + uint64(random.IntN(1000)) - min(args[0], 500)
		}
		_, want := plain.ExportedFunction(name).Call(t.Context(), args...)
		_, got := metered.ExportedFunction(name).Call(t.Context(), args...)
		if (want == nil) != (got == nil) || want != nil && trap(want) != trap(got) {
			t.Fatalf("%s %v: plain %v, metered %v", name, args, want, got)
		}
		if want != nil {
			traps++
		}
		a, _ := plain.Memory().Read(0, size)
		b, _ := metered.Memory().Read(0, size)
		if !bytes.Equal(a, b) {
			t.Fatalf("%s %v leaves other bytes", name, args)
		}
	}
	if traps < 10 || traps > 290 {
		t.Errorf("%d of 300 were out of bounds", traps)
	}
}

func TestFillThatTrapsHasWrittenNothing(t *testing.T) {
	m := start(t, rewrite(t, movers(), generous))
	if _, err := m.ExportedFunction("fill").Call(t.Context(), 0, 1, 64<<16+1); err == nil {
		t.Fatal("a fill that is too large succeeds")
	}
	if all, _ := m.Memory().Read(0, 64<<16); bytes.IndexByte(all, 1) >= 0 {
		t.Error("something was written")
	}
}

func TestLargeFillTicksBetweenItsPieces(t *testing.T) {
	r, c := newRuntime(t), &clock{slice: 1}
	c.install(t, r)
	m, err := r.Instantiate(t.Context(), rewrite(t, movers(), generous))
	if err != nil {
		t.Fatal(err)
	}
	call(t, m, "fill", 0, 1, 64<<16)
	if c.ticks < 4 {
		t.Errorf("%d ticks in 4 MiB", c.ticks)
	}
	if used := c.used(m); used < 4<<20/8 || used > 4<<20/8+100 {
		t.Errorf("4 MiB cost %d", used)
	}
}

func TestNamesFollowTheirFunctions(t *testing.T) {
	names := custom("name", join(
		[]byte{0}, sized(sized([]byte("author"))),
		[]byte{1}, sized(list(join([]byte{0}, sized([]byte("lower"))), join([]byte{1}, sized([]byte("upper"))))),
		[]byte{2}, sized(list(join([]byte{0}, list(join([]byte{0}, sized([]byte("argument"))))))),
		[]byte{3}, sized(list(join([]byte{0}, list(join([]byte{0}, sized([]byte("label"))))))),
	)...)
	module := with(func(d *draft) {
		d.functions = [][]byte{{0}, {0}}
		d.codes = [][]byte{code(nil, 0x00), code(nil, 0x10, 0)}
		d.exports = [][]byte{export("run", 0, 1)}
		d.customs = [][]byte{names}
	})
	metered := rewrite(t, module, generous)
	m := start(t, metered)
	_, err := m.ExportedFunction("run").Call(t.Context())
	if err == nil || !strings.Contains(err.Error(), "author.lower()") || !strings.Contains(err.Error(), "author.upper()") {
		t.Errorf("the trace is %v", err)
	}
	for word, want := range map[string]bool{"argument": true, "label": false} {
		if got := bytes.Contains(metered, []byte(word)); got != want {
			t.Errorf("%q is kept: %v, want %v", word, got, want)
		}
	}
}

func TestNamesThatAreNotAsTheyShouldBeAreDropped(t *testing.T) {
	for _, content := range [][]byte{{1}, {1, 200}, {1, 3, 1, 9, 0}, {2, 0, 1, 1, 0}} {
		module := with(func(d *draft) { d.customs = [][]byte{custom("name", content...)} })
		start(t, rewrite(t, module, generous))
	}
}

func TestOnlyTheManifestAndTheNamesOfTheCustomSectionsAreKept(t *testing.T) {
	metered := rewrite(t, with(func(d *draft) {
		d.customs = [][]byte{custom("producers", []byte("nobody")...), custom("fastreact.manifest", []byte(`{"abi":1}`)...)}
	}), generous)
	for word, want := range map[string]bool{`fastreact.manifest{"abi":1}`: true, "nobody": false} {
		if got := bytes.Contains(metered, []byte(word)); got != want {
			t.Errorf("%q is kept: %v, want %v", word, got, want)
		}
	}
}

func TestGasDoesNotDependOnHowMuchATickGives(t *testing.T) {
	module := rewrite(t, readFile(t, "testdata/work.wasm"), generous)
	for _, name := range programs() {
		var want int64
		for i, slice := range []int64{1, 1, 777, 50_000, 1 << 40} {
			r, c := newRuntime(t), &clock{slice: slice}
			c.install(t, r)
			m, err := r.Instantiate(t.Context(), module)
			if err != nil {
				t.Fatal(err)
			}
			call(t, m, name, 5000)
			if used := c.used(m); i == 0 {
				want = used
			} else if used != want || used < 5000 {
				t.Errorf("%s costs %d with ticks of %d, and %d with ticks of 1", name, used, slice, want)
			}
		}
	}
}

func TestProgramsGiveTheSameWithAndWithoutTheMeter(t *testing.T) {
	work := readFile(t, "testdata/work.wasm")
	plain, metered := start(t, work), start(t, rewrite(t, work, generous))
	for _, name := range programs() {
		if diff := cmp.Diff(call(t, plain, name, 4321), call(t, metered, name, 4321)); diff != "" {
			t.Errorf("%s (-plain +metered):\n%s", name, diff)
		}
	}
}
