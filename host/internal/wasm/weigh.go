package wasm

import (
	"fmt"
	"slices"

	"github.com/fastreact/fastreact/sdk"
)

// Weight is how large a module is and how it would run here. Nothing was compiled or run for it.
type Weight struct {
	FileBytes     int    `json:"file_bytes"`
	CodeBytes     int    `json:"code_bytes"`
	DataBytes     int    `json:"data_bytes"`
	Functions     int    `json:"functions"`      // of its own
	InitialMemory uint64 `json:"initial_memory"` // bytes
	MaximumMemory uint64 `json:"maximum_memory"` // bytes that it declares; 0: it declares none
}

// Weigh measures a module by its sections.
func Weigh(module []byte) (Weight, error) {
	found, err := sections(module)
	if err != nil {
		return Weight{}, fmt.Errorf("weigh module: %w", err)
	}
	w := Weight{FileBytes: len(module)}
	for _, part := range found {
		switch part.id {
		case sectionCode:
			w.CodeBytes += len(part.body)
			w.Functions += (&reader{rest: part.body}).count()
		case sectionData:
			w.DataBytes += len(part.body)
		}
	}
	shape, err := parseShape(module)
	if err != nil {
		return Weight{}, fmt.Errorf("weigh module: %w", err)
	}
	for _, memory := range shape.memories {
		w.InitialMemory += memory.low * pageSize
		w.MaximumMemory += memory.high * pageSize
	}
	return w, nil
}

// Ids of the sections that Weigh reads beside those of a shape.
const (
	sectionCode = 10
	sectionData = 11
)

// Effective returns the limits that hold for a manifest when the operator says nothing.
func Effective(manifest sdk.Manifest) (sdk.Limits, error) {
	return resolve(Config{}, sdk.Limits{}, manifest)
}

// Defaults returns the limits of a kind when neither the operator nor the manifest says anything.
func Defaults(kind sdk.Kind) sdk.Limits { return defaults(kind) }

// Ceiling returns what no plugin gets more of.
func Ceiling() sdk.Limits { return ceiling() }

// IsBase reports whether an import, written "module name", belongs to the base set that grants nothing.
func IsBase(full string) bool {
	return slices.ContainsFunc(baseFunctions(), func(name string) bool { return full == moduleWASI+" "+name })
}
