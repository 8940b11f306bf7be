package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/fastreact/fastreact/sdk"
)

// Inspection is what a reviewer reads about a module. Nothing was compiled or run for it.
type Inspection struct {
	Name         string           `json:"name"`
	Version      string           `json:"version"`
	Kind         sdk.Kind         `json:"kind"`
	ABI          int              `json:"abi"`
	Digest       string           `json:"digest"` // sha256:<hex>
	Size         int              `json:"size"`   // bytes
	Signer       string           `json:"signer"` // empty: unsigned
	Imports      []string         `json:"imports"`
	Exports      []string         `json:"exports"`
	Capabilities []string         `json:"capabilities"` // ids, from the imports
	Unsupported  []string         `json:"unsupported"`  // imports that this host never serves
	Requested    sdk.Capabilities `json:"requested"`    // from the manifest
	Limits       sdk.Limits       `json:"limits"`       // from the manifest; zero means the host's default
	Manifest     sdk.Manifest     `json:"manifest"`
}

// Inspect reads a module's sections. It refuses what Load would refuse for its structure or manifest.
func Inspect(module []byte) (Inspection, error) {
	if len(module) > defaultModuleBytes {
		return Inspection{}, fmt.Errorf("inspect module: it has %d bytes, the limit is %d", len(module), defaultModuleBytes)
	}
	s, err := parseShape(module)
	if err != nil {
		return Inspection{}, fmt.Errorf("inspect module: %w", err)
	}
	manifest, err := s.decodeManifest()
	if err != nil {
		return Inspection{}, fmt.Errorf("inspect module: %w", err)
	}
	if err := dialectOf(s).checkExports(s); err != nil {
		return Inspection{}, fmt.Errorf("inspect module: %w", err)
	}
	sum := sha256.Sum256(module)
	inspection := Inspection{
		Name: manifest.Name, Version: manifest.Version, Kind: manifest.Kind, ABI: manifest.ABI,
		Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(module),
		Exports: slices.Sorted(maps.Keys(s.exports)), Imports: []string{}, Capabilities: []string{}, Unsupported: []string{},
		Requested: manifest.Capabilities, Limits: manifest.Limits, Manifest: manifest,
	}
	inspection.readImports(s.imports)
	return inspection, nil
}

func (i *Inspection) readImports(imports []imported) {
	for _, entry := range imports {
		full := entry.module + " " + entry.name
		i.Imports = append(i.Imports, full)
		switch id, known := entry.capability(); {
		case !known:
			i.Unsupported = append(i.Unsupported, full)
		case id != "":
			i.Capabilities = append(i.Capabilities, id)
		}
	}
	slices.Sort(i.Imports)
	slices.Sort(i.Unsupported)
	slices.Sort(i.Capabilities)
	i.Imports, i.Capabilities = slices.Compact(i.Imports), slices.Compact(i.Capabilities)
}
