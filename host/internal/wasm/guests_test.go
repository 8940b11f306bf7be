package wasm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// foreignGuests builds modules with tools that know nothing of this project, once for all tests.
var foreignGuests = struct {
	policy, pdk func() ([]byte, error) // Extism's PDK for Go
}{
	policy: sync.OnceValues(func() ([]byte, error) { return goReactor(examples("policy-extism")) }),
	pdk:    sync.OnceValues(func() ([]byte, error) { return goReactor(filepath.Join("testdata", "gopdk")) }),
}

func examples(name string) string { return filepath.Join("..", "..", "..", "examples", name) }

// goReactor compiles a Go package with the standard toolchain and adds nothing.
func goReactor(dir string) ([]byte, error) {
	scratch, err := os.MkdirTemp("", "fastreact-guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	output := filepath.Join(scratch, "plugin.wasm")
	command := exec.CommandContext(context.Background(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", output, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	return os.ReadFile(output)
}

// compiled holds what assemblyScript made, by entry file: the compiler takes longer than most tests.
var compiled sync.Map

// assemblyScript compiles an entry file with the compiler that .ci/peers pins.
func assemblyScript(t testing.TB, entry string) []byte {
	t.Helper()
	if module, ok := compiled.Load(entry); ok {
		return module.([]byte)
	}
	modules := peers.Modules(t)
	compiler := filepath.Join(modules, "assemblyscript", "bin", "asc.js")
	if _, err := os.Stat(compiler); err != nil {
		peers.Missing(t, "the npm package assemblyscript 0.28.20, in "+modules)
	}
	output := filepath.Join(t.TempDir(), "plugin.wasm")
	source, err := filepath.Abs(entry)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", compiler, filepath.Base(source), "--path", modules,
		"--runtime", "incremental", "--use", "abort=", "--optimize", "--outFile", output)
	command.Dir = filepath.Dir(source)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("asc: %v\n%s", err, text)
	}
	module := file(t, output)
	compiled.Store(entry, module)
	return module
}

func built(t testing.TB, guest func() ([]byte, error)) []byte {
	t.Helper()
	module, err := guest()
	if err != nil {
		t.Fatal(err)
	}
	return module
}
