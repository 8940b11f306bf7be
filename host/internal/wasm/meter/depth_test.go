package meter_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

func TestEveryWayOutOfAFunctionGivesItsDepthBack(t *testing.T) {
	exits := readFile(t, "testdata/exits.wasm")
	plain, metered := start(t, exits), start(t, rewrite(t, exits, generous))
	for name := range plain.ExportedFunctionDefinitions() {
		for _, n := range []uint64{1, 2, 3, 8, 21} {
			want, got := call(t, plain, name, n), call(t, metered, name, n)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s(%d) (-plain +metered):\n%s", name, n, diff)
			}
			if left := metered.ExportedGlobal(meter.DepthGlobal).Get(); uint32(left) != generous.CallDepth {
				t.Fatalf("%s(%d) leaves a depth of %d", name, n, left)
			}
		}
	}
}

func TestAsManyNestedCallsAreAllowedAsTheLimitSays(t *testing.T) {
	limits := generous
	limits.CallDepth = 50
	module := rewrite(t, readFile(t, "testdata/exits.wasm"), limits)
	if _, err := start(t, module).ExportedFunction("end").Call(t.Context(), 48); err != nil { // itself and 49 of the other
		t.Errorf("50 calls are refused: %v", err)
	}
	if _, err := start(t, module).ExportedFunction("end").Call(t.Context(), 49); !errors.Is(err, errDeep) {
		t.Errorf("51 calls end with %v", err)
	}
}

// The engine's stack for a guest grows to 400 MB where nobody stops it.
func TestDeepRecursionTakesLittleMemory(t *testing.T) {
	for _, name := range []string{"recursion", "mutual-recursion", "recursion-through-a-table", "recursion-with-large-frames"} {
		m := hostile(t, &clock{})
		if took := allocated(func() {
			if _, err := m.ExportedFunction(name).Call(t.Context()); !errors.Is(err, errDeep) {
				t.Errorf("%s ends with %s", name, outline(err))
			}
		}); took > 64<<20 {
			t.Errorf("%s takes %d MiB", name, took>>20)
		} else {
			t.Logf("%s takes %d KiB", name, took>>10)
		}
	}
}

func TestRecursionOfAFunctionThatKeepsThousandsOfValuesTakesLittleMemory(t *testing.T) {
	limits := generous
	limits.CallDepth = 20_000
	m := start(t, rewrite(t, hoarder(4000), limits))
	if took := allocated(func() {
		if _, err := m.ExportedFunction("run").Call(t.Context()); !errors.Is(err, errDeep) {
			t.Errorf("it ends with %v", err)
		}
	}); took > 256<<20 {
		t.Errorf("it takes %d MiB", took>>20)
	} else {
		t.Logf("it takes %d MiB", took>>20)
	}
}

// allocated is how many bytes something allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hoarder is a function that reads many words, calls itself, and needs all of them afterwards.
func hoarder(words int) []byte {
	var body []byte
	for i := range words {
		body = append(body, join([]byte{0x41}, signed(i*4), []byte{0x28, 2, 0})...)
	}
	body = append(body, 0x10, 0)
	for range words {
		body = append(body, 0x24, 0)
	}
	d := function(nil, nil, nil, body...)
	d.memories = [][]byte{{0, 1}}
	d.globals = [][]byte{{i32, 1, 0x41, 0, 0x0b}}
	return d.bytes()
}

// signed gives a small number as an instruction has it.
func signed(n int) []byte {
	var out []byte
	for n > 0x3f {
		out = append(out, byte(n&0x7f)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}
