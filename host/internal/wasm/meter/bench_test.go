package meter_test

import (
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// programs are the exports of testdata/work.wasm.
func programs() []string {
	return []string{
		"count", "mix", "bytes", "words", "nested", "search", "rare", "floats",
		"calls-small", "calls-middle", "calls-indirect", "calls-recursive", "copies",
	}
}

// BenchmarkTightLoop gives the time of one turn of each program.
func BenchmarkTightLoop(b *testing.B) {
	work := readFile(b, "testdata/work.wasm")
	plain, metered := start(b, work), start(b, rewrite(b, work, generous))
	for _, name := range programs() {
		b.Run(name+"/plain", func(b *testing.B) { turns(b, plain, name) })
		b.Run(name+"/metered", func(b *testing.B) { turns(b, metered, name) })
	}
}

// start gives an instance of a module in a runtime of its own, with ticks that never end it.
func start(t testing.TB, module []byte) api.Module {
	t.Helper()
	r := newRuntime(t)
	(&clock{}).install(t, r)
	m, err := r.Instantiate(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func turns(b *testing.B, m api.Module, name string) {
	stack := []uint64{uint64(b.N)}
	if err := m.ExportedFunction(name).CallWithStack(b.Context(), stack); err != nil {
		b.Fatal(err)
	}
}
