package builtintest_test

import (
	"context"
	"os"
	"testing"

	"github.com/fastreact/fastreact/examples/policycases"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
	"github.com/fastreact/fastreact/testdata/peers"
)

// The same table judges the policy "only notes" in every language; the two that the SDK is for stand here.
func TestPolicyInGoDecidesAsTheTableSays(t *testing.T) { decides(t, "policy-only-notes") }

func TestPolicyInCDecidesAsTheTableSays(t *testing.T) {
	peers.Need(t, "clang")
	decides(t, "policy-c")
}

func decides(t *testing.T, example string) {
	t.Helper()
	path, err := build.Dir(t.Context(), home+"/examples/"+example)
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	host, err := wasm.New(wasm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	plugin, err := host.Load(t.Context(), wasm.Module{Name: example, Bytes: module, AllowUnpinned: true})
	if err != nil {
		t.Fatal(err)
	}
	policycases.Check(t, func(q sdk.Question) (sdk.Opinion, error) { return plugin.Evaluate(t.Context(), q) })
}
