// Package build makes a plugin module out of a folder: it checks the manifest, compiles the Go package for wasip1 and
// appends the manifest as a custom section. The same sources give the same bytes.
package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/fastreact/fastreact/sdk"
)

// Names of the files that Dir reads and writes.
const (
	ManifestFile = "manifest.json"
	OutputFile   = "plugin.wasm"
)

// Dir builds the main package in dir, which may belong to any Go module, and returns the path of dir/plugin.wasm.
// It needs the Go toolchain on PATH. Nothing is written when a step fails.
func Dir(ctx context.Context, dir string) (string, error) { return Overlaid(ctx, dir, "") }

// Overlaid is Dir with a file for `go build -overlay`, for a plugin that needs a dependency's source in another form.
// An empty overlay means none.
func Overlaid(ctx context.Context, dir, overlay string) (string, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return "", err
	}
	module, err := compile(ctx, dir, overlay)
	if err != nil {
		return "", fmt.Errorf("build plugin %s: %w", dir, err)
	}
	module, err = AppendManifest(module, manifest)
	if err != nil {
		return "", fmt.Errorf("build plugin %s: %w", dir, err)
	}
	target := filepath.Join(dir, OutputFile)
	if err := writeWhole(target, module); err != nil {
		return "", fmt.Errorf("build plugin %s: %w", dir, err)
	}
	return target, nil
}

func readManifest(dir string) ([]byte, error) {
	path := filepath.Join(dir, ManifestFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if _, err := sdk.DecodeManifest(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return compact.Bytes(), nil
}

func compile(ctx context.Context, dir, overlay string) ([]byte, error) {
	scratch, err := os.MkdirTemp("", "fastreact-build-")
	if err != nil {
		return nil, fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	output := filepath.Join(scratch, OutputFile)
	command := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-overlay="+overlay, "-o", output, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWASM=", "GOEXPERIMENT=")
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(text))
	}
	module, err := os.ReadFile(output)
	if err != nil {
		return nil, fmt.Errorf("read compiled module: %w", err)
	}
	if !bytes.Contains(module, []byte("fastreact_call")) {
		return nil, errors.New("the module exports no fastreact_call: does an init function in main_wasip1.go call guest.Serve…?")
	}
	return module, nil
}

// writeWhole replaces path by data at once, so that a reader never sees half a module.
func writeWhole(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".plugin-*.wasm")
	if err != nil {
		return fmt.Errorf("write module: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write module: %w", err)
	}
	return nil
}
