package wasm

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/sdk/build"
)

// goGuests builds each Go guest of testdata once per test binary.
var goGuests = map[string]func() ([]byte, error){
	"policy": sync.OnceValues(func() ([]byte, error) { return buildGuest("policy") }),
	"attack": sync.OnceValues(func() ([]byte, error) { return buildGuest("attack") }),
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

func goGuest(t testing.TB, name string) []byte {
	t.Helper()
	module, err := goGuests[name]()
	if err != nil {
		t.Fatal(err)
	}
	return module
}
