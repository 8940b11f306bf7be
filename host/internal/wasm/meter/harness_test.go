package meter_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

var (
	errSpent = errors.New("fuel is spent")
	errDeep  = errors.New("calls are nested too deeply")
)

// slice is what is left after a tick that gives fuel.
const slice = 100_000

// generous are limits that no test reaches by accident.
var generous = meter.Options{MemoryPages: 65_536, TableEntries: 10_000_000, CallDepth: 100_000}

// clock answers ticks and keeps the books.
type clock struct {
	given, ticks, hostCalls int64
	slice                   int64        // what is left after a tick that gives; slice by default
	budget                  int64        // ends the guest when more is given; 0 means never
	expired                 func() error // asked at every tick when set
}

func (c *clock) tick(_ context.Context, stack []uint64) {
	reason, fuel := uint32(stack[0]), int64(stack[1])
	c.ticks++
	if reason == meter.TooDeep {
		panic(errDeep)
	}
	if reason == meter.HostCall {
		c.hostCalls++
	}
	if c.expired != nil {
		if err := c.expired(); err != nil {
			panic(err)
		}
	}
	if give := cmp.Or(c.slice, slice) - fuel; fuel < 0 {
		fuel += give
		c.given += give
	}
	if c.budget > 0 && c.given > c.budget {
		panic(errSpent)
	}
	stack[0] = uint64(fuel)
}

// install makes the tick import in a runtime.
func (c *clock) install(t testing.TB, r wazero.Runtime) {
	t.Helper()
	_, err := r.NewHostModuleBuilder(meter.ImportModule).NewFunctionBuilder().WithGoFunction(
		api.GoFunc(c.tick), []api.ValueType{api.ValueTypeI32, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export(meter.TickFunction).Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
}

// used is the gas of an instance so far.
func (c *clock) used(m api.Module) int64 {
	return c.given - int64(m.ExportedGlobal(meter.FuelGlobal).Get())
}

func newRuntime(t testing.TB) wazero.Runtime {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigCompiler().WithCoreFeatures(api.CoreFeaturesV2))
	t.Cleanup(func() { _ = r.Close(context.WithoutCancel(t.Context())) })
	return r
}

// root is the folder of the repository.
func root(t testing.TB, parts ...string) string {
	t.Helper()
	return filepath.Join(append([]string{"..", "..", "..", ".."}, parts...)...)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func rewrite(t testing.TB, module []byte, o meter.Options) []byte {
	t.Helper()
	metered, err := meter.Rewrite(module, o)
	if err != nil {
		t.Fatal(err)
	}
	return metered.Bytes
}
