package wasm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Names of guest ABI v1.
const (
	exportMemory     = "memory"
	exportABI        = "fastreact_abi"
	exportAlloc      = "fastreact_alloc"
	exportCall       = "fastreact_call"
	exportInitialize = "_initialize"
)

const (
	typeI32 = "\x7f"
	typeI64 = "\x7e"
)

// required lists the functions of the ABI. _initialize alone may be missing.
func required() map[string]signature {
	return map[string]signature{
		exportABI:        {"", typeI32},
		exportAlloc:      {typeI32, typeI32},
		exportCall:       {typeI32 + typeI32 + typeI32, typeI64},
		exportInitialize: {"", ""},
	}
}

// checkExports reports every export of the ABI that is missing or has another signature.
func (s *shape) checkExports() error {
	var problems []error
	if memory, ok := s.exports[exportMemory]; !ok || memory.kind != kindMemory {
		problems = append(problems, errors.New("export memory is missing"))
	}
	abi := required()
	for _, name := range slices.Sorted(maps.Keys(abi)) {
		want := abi[name]
		if _, there := s.exports[name]; !there {
			if name != exportInitialize {
				problems = append(problems, fmt.Errorf("export %s %s is missing", name, want))
			}
			continue
		}
		if got, ok := s.signatureOf(name); !ok || got != want {
			problems = append(problems, fmt.Errorf("export %s is %s, not %s", name, got, want))
		}
	}
	return errors.Join(problems...)
}

// String writes a signature as (i32, i32) → i64.
func (s signature) String() string {
	return fmt.Sprintf("(%s) → %s", valueNames(s.params), valueNames(s.results))
}

func valueNames(values string) string {
	names := map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref"}
	var out []string
	for i := range len(values) {
		out = append(out, names[values[i]])
	}
	return strings.Join(out, ", ")
}
