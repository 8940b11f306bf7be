// Package build makes a plugin module out of a folder: it checks the manifest, compiles the Go package or the C files
// and appends the manifest as a custom section. The same sources give the same bytes.
package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/sdk"
)

// Names of the files that Dir reads and writes.
const (
	ManifestFile = "manifest.json"
	OutputFile   = "plugin.wasm"
)

// ErrNoPlugin reports a folder that is not there, or holds no sources of a plugin.
var ErrNoPlugin = errors.New("no plugin to build")

// Dir builds the plugin in dir and returns the path of dir/plugin.wasm: a main package, which may belong to any Go
// module, or C files. It needs the go command or clang on PATH. Nothing is written when a step fails.
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
	if _, missing := os.Stat(path); missing != nil {
		return nil, fmt.Errorf("%w: there is no %s", ErrNoPlugin, path)
	}
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
	hint := "does an init function in main_wasip1.go call guest.Serve…?"
	sources, err := sourcesIn(dir)
	switch {
	case err != nil:
		return nil, err
	case sources == nil:
		err = compileGo(ctx, dir, overlay, output)
	default:
		hint = "does one of the files say FASTREACT_POLICY(…), or TOOL, SCOPE or GUARD?"
		err = compileC(ctx, dir, sources, output)
	}
	if err != nil {
		return nil, err
	}
	module, err := os.ReadFile(output)
	if err != nil {
		return nil, fmt.Errorf("read compiled module: %w", err)
	}
	if !bytes.Contains(module, []byte("fastreact_call")) {
		return nil, errors.New("the module exports no fastreact_call: " + hint)
	}
	return module, nil
}

// sourcesIn lists the C files of a plugin in C, in the order of their names, or nothing where there are Go files.
func sourcesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	var sources []string
	for _, entry := range entries {
		switch filepath.Ext(entry.Name()) {
		case ".go":
			return nil, nil
		case ".c":
			sources = append(sources, entry.Name())
		}
	}
	if sources == nil {
		return nil, fmt.Errorf("%w: it holds neither Go nor C files", ErrNoPlugin)
	}
	return sources, nil
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
