package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// plugin is a policy in the plugin host, in snapshot mode, metered.
func plugin(b *testing.B, name, dir string, rests bool) contestant {
	b.Helper()
	host, err := wasm.New(wasm.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = host.Close(context.Background()) })
	loaded, err := host.Load(b.Context(), wasm.Module{Bytes: buildModule(b, dir), AllowUnpinned: true})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	c := contestant{name: name, ask: func(question []byte) ([]byte, error) {
		return loaded.Exchange(ctx, sdk.OpEvaluate, wasm.CallContext{}, question)
	}}
	if rests {
		c.rest = func() {
			for loaded.Gauges().Restoring > 0 {
				runtime.Gosched()
			}
		}
	}
	return c
}

func buildModule(b *testing.B, dir string) []byte {
	b.Helper()
	file, err := build.Dir(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return module
}

// goSDK is a policy made with an Extism PDK in extism/go-sdk, with a timeout. Its instance is used again and again,
// so its state is not fresh.
func goSDK(b *testing.B) contestant {
	b.Helper()
	file := filepath.Join(b.TempDir(), "policy.wasm")
	compile := exec.CommandContext(b.Context(), "go", "build", "-buildmode=c-shared", "-o", file, "./guest-extism")
	compile.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := compile.CombinedOutput(); err != nil {
		b.Fatalf("build the Extism guest: %v\n%s", err, out)
	}
	manifest := extism.Manifest{
		Wasm:    []extism.Wasm{extism.WasmFile{Path: file}},
		Timeout: uint64(time.Second / time.Millisecond),
	}
	loaded, err := extism.NewPlugin(b.Context(), manifest, extism.PluginConfig{
		EnableWasi: true, ModuleConfig: wazero.NewModuleConfig().WithSysWalltime().WithSysNanotime(),
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = loaded.Close(context.Background()) })
	return contestant{name: "extism", ask: func(question []byte) ([]byte, error) {
		_, answer, err := loaded.Call("evaluate", question)
		return answer, err
	}}
}
