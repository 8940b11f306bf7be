package wasm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fastreact/fastreact/host/internal/trust"
	"github.com/fastreact/fastreact/sdk"
)

// manifestBeside is the name under which an author's tools look for a manifest beside a module that has none.
const manifestBeside = "manifest.json"

// ReadPlugin reads a plugin whose files have at most limit bytes each, 64 MiB where it is 0: a module, or an Extism manifest file (.json) and the module
// that it names. A manifest file of ours is joined to it; manifest is empty where the module carries its own.
func ReadPlugin(path, manifest string, limit int) ([]byte, error) {
	parts, err := readParts(path, limit)
	if err != nil {
		return nil, err
	}
	return parts.withManifest(manifest)
}

// ReadPluginBeside is ReadPlugin for an author's tools, which take the manifest.json beside a module that carries none.
func ReadPluginBeside(path string, limit int) ([]byte, error) {
	parts, err := readParts(path, limit)
	if err != nil {
		return nil, err
	}
	beside := filepath.Join(filepath.Dir(path), manifestBeside)
	found, err := sections(parts.Module)
	if _, statErr := os.Stat(beside); err != nil || statErr != nil || hasCustom(found, sdk.ManifestSection) {
		beside = ""
	}
	return parts.withManifest(beside)
}

func (p Parts) withManifest(path string) ([]byte, error) {
	if path == "" && p.Extism == nil {
		return p.Module, nil
	}
	if path != "" {
		var err error
		if p.Manifest, err = trust.ReadFile(path, maxManifestFile); err != nil {
			return nil, fmt.Errorf("manifest file %s: %w", path, err)
		}
	}
	return Join(p)
}

const maxManifestFile = 1 << 20 // bytes, as in a module

func readParts(path string, limit int) (Parts, error) {
	limit = cmp.Or(limit, defaultModuleBytes)
	if !strings.EqualFold(filepath.Ext(path), ".json") {
		module, err := trust.ReadFile(path, limit)
		return Parts{Module: module}, err
	}
	file, err := trust.ReadFile(path, limit)
	if err != nil {
		return Parts{}, err
	}
	named, err := ReadExtismModule(file)
	if err != nil {
		return Parts{}, err
	}
	if named.Path != "" {
		if named.Data, err = readNamed(named.Path, filepath.Dir(path), limit); err != nil {
			return Parts{}, fmt.Errorf("module of the extism manifest %s: %w", path, err)
		}
	}
	if digest := trust.DigestOf(named.Data); named.Hash != "" && digest.Hex() != strings.ToLower(named.Hash) {
		return Parts{}, fmt.Errorf("the extism manifest %s names a module with the hash %s, and %s has %s", path, named.Hash, named.Path, digest.Hex())
	}
	return Parts{Module: named.Data, Extism: file}, nil
}

// readNamed reads a module from where Extism would, the working directory, or else from beside the manifest file.
func readNamed(path, beside string, limit int) ([]byte, error) {
	module, err := trust.ReadFile(path, limit)
	if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(path) {
		return trust.ReadFile(filepath.Join(beside, path), limit)
	}
	return module, err
}

// PluginFiles lists the files that ReadPlugin would read, as far as they can be told now.
func PluginFiles(path, manifest string, limit int) []string {
	files := []string{path}
	if manifest != "" {
		files = append(files, manifest)
	}
	if !strings.EqualFold(filepath.Ext(path), ".json") {
		return files
	}
	if raw, err := trust.ReadFile(path, cmp.Or(limit, defaultModuleBytes)); err == nil {
		if named, err := ReadExtismModule(raw); err == nil && named.Path != "" {
			files = append(files, named.Path, filepath.Join(filepath.Dir(path), named.Path))
		}
	}
	return files
}
