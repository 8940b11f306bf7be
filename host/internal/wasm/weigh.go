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

// Plan is how a module would run when the operator says nothing.
type Plan struct {
	Dialect string // how host and guest talk: fastreact or extism
	Mode    Mode   // how calls are kept apart
	Note    string // why the module does not run in that mode; empty: it does
	Limits  sdk.Limits
	Metered int // bytes of the module as it is compiled; 0 when it cannot be metered
}

// PlanFor reads how a module would run. It meters the module, and neither compiles nor runs it.
func PlanFor(module []byte) (Plan, error) {
	c := &candidate{module: Module{Bytes: module, AllowUnpinned: true}}
	err := c.readManifest()
	if err == nil {
		c.limits, err = resolve(Config{}, sdk.Limits{}, c.manifest)
	}
	if err == nil {
		c.mode, err = modeOf("", c.manifest.Kind)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("plan module: %w", err)
	}
	plan := Plan{Dialect: "fastreact", Mode: c.mode, Limits: c.limits}
	if _, abi1 := dialectOf(c.shape).(native); !abi1 {
		plan.Dialect = "extism"
	}
	metered, err := c.metered()
	if err != nil {
		plan.Note = err.Error()
	}
	plan.Metered = len(metered.Bytes)
	return plan, nil
}

// Ids of the sections that Weigh reads beside those of a shape.
const (
	sectionCode = 10
	sectionData = 11
)

// Defaults returns the limits of a kind when neither the operator nor the manifest says anything.
func Defaults(kind sdk.Kind) sdk.Limits { return defaults(kind) }

// Ceiling returns what no plugin gets more of.
func Ceiling() sdk.Limits { return ceiling() }

// IsBase reports whether an import, written "module name", belongs to the base set that grants nothing.
func IsBase(full string) bool {
	return slices.ContainsFunc(baseFunctions(), func(name string) bool { return full == moduleWASI+" "+name })
}
