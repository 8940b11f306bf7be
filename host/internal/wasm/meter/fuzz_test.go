package meter_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// FuzzRewrite holds two promises against arbitrary bytes: what the engine compiles is refused or compiles metered, and
// what the engine refuses does not become a module it accepts. (Custom sections are dropped, and with them what may be
// wrong with them.)
func FuzzRewrite(f *testing.F) {
	for _, folder := range []string{root(f, "testdata", "abi"), root(f, "testdata", "hostile"), "testdata"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.wasm"))
		if err != nil || len(files) == 0 {
			f.Fatalf("no modules in %s: %v", folder, err)
		}
		for i, file := range files {
			if i%4 == 0 || folder == "testdata" {
				f.Add(readFile(f, file))
			}
		}
	}
	features := api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst
	f.Fuzz(func(t *testing.T, module []byte) {
		input := bytes.Clone(module)
		metered, err := meter.Rewrite(module, meter.Options{MemoryPages: 64, TableEntries: 1000, CallDepth: 100})
		if !bytes.Equal(input, module) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
		defer func() { _ = r.Close(t.Context()) }()
		_, plainErr := r.CompileModule(t.Context(), module)
		_, meteredErr := r.CompileModule(t.Context(), metered.Bytes)
		if plainErr == nil && meteredErr != nil {
			t.Errorf("compiles, but not metered: %v", meteredErr)
		}
		if plainErr != nil && meteredErr == nil && !strings.Contains(plainErr.Error(), "custom") {
			t.Errorf("compiles only metered: %v", plainErr)
		}
	})
}
