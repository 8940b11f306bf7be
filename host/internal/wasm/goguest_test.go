package wasm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// goGuests compiles the Go guests of testdata once for all tests: compiling takes seconds, loading from the cache
// does not.
var goGuests = struct {
	cacheDir              string // set by TestMain
	policy, attack, reach func() ([]byte, error)
}{
	policy: sync.OnceValues(func() ([]byte, error) { return buildGuest("policy") }),
	attack: sync.OnceValues(func() ([]byte, error) { return buildGuest("attack") }),
	reach:  sync.OnceValues(func() ([]byte, error) { return buildGuest("reach") }),
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fastreact-wasm-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goGuests.cacheDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func buildGuest(name string) ([]byte, error) {
	dir := filepath.Join("testdata", name)
	defer os.Remove(filepath.Join(dir, build.OutputFile))
	path, err := build.Dir(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// goPolicy loads testdata/policy in a host of its own.
func goPolicy(t testing.TB) *Plugin {
	t.Helper()
	module, err := goGuests.policy()
	if err != nil {
		t.Fatal(err)
	}
	return load(t, newHost(t, Config{CacheDir: goGuests.cacheDir}), Module{Bytes: module})
}

// goAttack loads testdata/attack with a workspace at /w.
func goAttack(t testing.TB, mode sdk.FileMode) *Plugin {
	t.Helper()
	module, err := goGuests.attack()
	if err != nil {
		t.Fatal(err)
	}
	return load(t, newHost(t, Config{CacheDir: goGuests.cacheDir}), Module{
		Bytes:  module,
		Grants: sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/w", Mode: mode}}},
	})
}
