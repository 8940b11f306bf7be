package workbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Names that a plugin's folder uses.
const (
	moduleFile = "plugin.wasm"
	casesDir   = "cases"
)

// Subject is a plugin as its author has it: a module, and the cases beside it.
type Subject struct {
	Path       string // of the module
	Module     []byte
	Inspection wasm.Inspection
	Cases      []*Case // of the folder cases, then the manifest's vectors
}

// Open reads a plugin from its folder, or from its module's file. Cases lie in the folder cases beside the module.
func Open(path string, words Words) (*Subject, error) {
	path, err := ModulePath(path)
	if err != nil {
		return nil, err
	}
	subject, err := openModule(path)
	if err != nil {
		return nil, err
	}
	kind := subject.Inspection.Kind
	if subject.Cases, err = readCases(filepath.Join(filepath.Dir(path), casesDir), kind, words); err != nil {
		return nil, err
	}
	vectors, err := vectorCases(subject.Inspection.Manifest)
	if err != nil {
		return nil, err
	}
	subject.Cases = append(subject.Cases, vectors...)
	return subject, nil
}

// openModule reads a module without cases.
func openModule(path string) (*Subject, error) {
	module, err := wasm.ReadPluginBeside(path, 0)
	if err != nil {
		return nil, fmt.Errorf("read plugin: %w", err)
	}
	inspection, err := wasm.Inspect(module)
	if err != nil {
		return nil, fmt.Errorf("%s is no plugin that this host runs: %w", path, err)
	}
	return &Subject{Path: path, Module: module, Inspection: inspection}, nil
}

// ModulePath returns the path of the module in a plugin's folder, or of the module itself where a file is named.
func ModulePath(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read plugin: %w", err)
	}
	if !info.IsDir() {
		return path, nil
	}
	module := filepath.Join(path, moduleFile)
	if _, err := os.Stat(module); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no %s; make it with `fastreact plugin build %s`", module, path)
	}
	return module, nil
}

// needCases reports a plugin that nobody wrote a case for.
func (s *Subject) needCases() error {
	if len(s.Cases) > 0 {
		return nil
	}
	return fmt.Errorf("%w: write one in %s, or vectors in the manifest", errNoCases,
		filepath.Join(filepath.Dir(s.Path), casesDir, "NAME.txtar"))
}

// manifestGrants grants what a manifest requests, with the scratch workspace for files.
func manifestGrants(requested sdk.Capabilities) sdk.Capabilities {
	granted := requested
	granted.Files = nil
	for _, file := range requested.Files {
		granted.Files = append(granted.Files, sdk.FileAccess{Path: "workspace", At: file.At, Mode: file.Mode})
	}
	return granted
}
