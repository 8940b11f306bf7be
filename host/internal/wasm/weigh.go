package wasm

import (
	"slices"

	"github.com/fastreact/fastreact/sdk"
)

// IsBase reports whether an import, written "module name", belongs to the base set that grants nothing.
func IsBase(full string) bool {
	return slices.ContainsFunc(baseFunctions(), func(name string) bool { return full == moduleWASI+" "+name })
}

// Defaults returns the limits of a kind when neither the operator nor the manifest says anything.
func Defaults(kind sdk.Kind) sdk.Limits { return defaults(kind) }

// Ceiling returns what no plugin gets more of.
func Ceiling() sdk.Limits { return ceiling() }
