package wasm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

const (
	pageSize       = 64 << 10
	maxModuleBytes = 64 << 20
	maxInputBytes  = 8 << 20
)

// defaults returns the limits of a kind. A Go guest starts with some 50 pages; tools get room for a shell.
func defaults(kind sdk.Kind) sdk.Limits {
	limits := sdk.Limits{
		Wall: sdk.Duration(2 * time.Second), MemoryPages: 256, OutputBytes: 1 << 20, LogBytes: 64 << 10,
	}
	if kind == sdk.KindTool {
		limits.Wall = sdk.Duration(60 * time.Second)
		limits.MemoryPages = 2048
		limits.OutputBytes = 4 << 20
	}
	return limits
}

// ceiling bounds whatever a manifest or a config asks for.
func ceiling() sdk.Limits {
	return sdk.Limits{
		Wall: sdk.Duration(5 * time.Minute), MemoryPages: 8192, OutputBytes: 16 << 20, LogBytes: 1 << 20,
	}
}

// over returns first, with next in place of what first leaves at zero.
func over(first, next sdk.Limits) sdk.Limits {
	return sdk.Limits{
		Wall:        cmp.Or(first.Wall, next.Wall),
		MemoryPages: cmp.Or(first.MemoryPages, next.MemoryPages),
		OutputBytes: cmp.Or(first.OutputBytes, next.OutputBytes),
		LogBytes:    cmp.Or(first.LogBytes, next.LogBytes),
	}
}

func below(limits, top sdk.Limits) sdk.Limits {
	return sdk.Limits{
		Wall:        min(limits.Wall, top.Wall),
		MemoryPages: min(limits.MemoryPages, top.MemoryPages),
		OutputBytes: min(limits.OutputBytes, top.OutputBytes),
		LogBytes:    min(limits.LogBytes, top.LogBytes),
	}
}

// resolve returns the limits of one plugin: the operator's word, else the manifest's, else the host's default. The
// operator may not go above the ceiling, the manifest is cut to it.
func resolve(cfg Config, entry sdk.Limits, manifest sdk.Manifest) (sdk.Limits, error) {
	top := over(cfg.Ceiling, ceiling())
	if entry != below(entry, top) {
		return sdk.Limits{}, fmt.Errorf("limits %s are above the host's ceiling %s", describe(entry), describe(top))
	}
	if entry.Wall < 0 || entry.OutputBytes < 0 || entry.LogBytes < 0 {
		return sdk.Limits{}, errors.New("limits must not be negative")
	}
	usual := over(cfg.Limits, defaults(manifest.Kind))
	return below(over(entry, over(manifest.Limits, usual)), top), nil
}

func describe(l sdk.Limits) string {
	return fmt.Sprintf("{wall: %s, memory_pages: %d, output_bytes: %d, log_bytes: %d}",
		time.Duration(l.Wall), l.MemoryPages, l.OutputBytes, l.LogBytes)
}

// checkMemory refuses a module whose memory does not fit before it runs.
func (s *shape) checkMemory(limits sdk.Limits) error {
	if len(s.memories) != 1 {
		return fmt.Errorf("a module has exactly one memory of its own, not %d", len(s.memories))
	}
	if low := s.memories[0].low; low > uint64(limits.MemoryPages) {
		return fmt.Errorf("the module starts with %d memory pages, its limit is %d; the operator may raise limits.memory_pages", low, limits.MemoryPages)
	}
	return nil
}
