package wasm

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

const (
	pageSize      = 64 << 10
	maxInputBytes = 8 << 20
)

// defaults returns the limits of a kind. A Go guest starts with some 50 pages; tools get room for a shell, and as many
// calls at once as there may be runs, for they wait more than they compute.
func defaults(kind sdk.Kind) sdk.Limits {
	limits := sdk.Limits{
		Wall: sdk.Duration(2 * time.Second), Gas: 10e12, MemoryPages: 256, TableEntries: 1 << 16, CallDepth: 50_000,
		HostCalls: 100_000, HTTPRequests: 16, HTTPBytes: 4 << 20, HTTPRedirects: 5,
		OutputBytes: 1 << 20, LogBytes: 64 << 10, Leases: max(2, runtime.GOMAXPROCS(0)),
	}
	if kind == sdk.KindTool {
		limits.Wall = sdk.Duration(60 * time.Second)
		limits.Gas = 1e15
		limits.MemoryPages = 2048
		limits.HostCalls = 10_000_000
		limits.OutputBytes = 4 << 20
		limits.Leases = 64
	}
	return limits
}

// ceiling bounds whatever a manifest or a config asks for.
func ceiling() sdk.Limits {
	return sdk.Limits{
		Wall: sdk.Duration(5 * time.Minute), Gas: 10e15, MemoryPages: 8192, TableEntries: 1 << 20, CallDepth: 500_000,
		HostCalls: 100_000_000, HTTPRequests: 1000, HTTPBytes: 256 << 20, HTTPRedirects: 20,
		OutputBytes: 16 << 20, LogBytes: 1 << 20, Leases: 1024,
	}
}

// over returns first, with next in place of what first leaves at zero.
func over(first, next sdk.Limits) sdk.Limits {
	return sdk.Limits{
		Wall:          cmp.Or(first.Wall, next.Wall),
		Gas:           cmp.Or(first.Gas, next.Gas),
		MemoryPages:   cmp.Or(first.MemoryPages, next.MemoryPages),
		TableEntries:  cmp.Or(first.TableEntries, next.TableEntries),
		CallDepth:     cmp.Or(first.CallDepth, next.CallDepth),
		HostCalls:     cmp.Or(first.HostCalls, next.HostCalls),
		HTTPRequests:  cmp.Or(first.HTTPRequests, next.HTTPRequests),
		HTTPBytes:     cmp.Or(first.HTTPBytes, next.HTTPBytes),
		HTTPRedirects: cmp.Or(first.HTTPRedirects, next.HTTPRedirects),
		OutputBytes:   cmp.Or(first.OutputBytes, next.OutputBytes),
		LogBytes:      cmp.Or(first.LogBytes, next.LogBytes),
		Leases:        cmp.Or(first.Leases, next.Leases),
	}
}

func below(limits, top sdk.Limits) sdk.Limits {
	return sdk.Limits{
		Wall:          min(limits.Wall, top.Wall),
		Gas:           min(limits.Gas, top.Gas),
		MemoryPages:   min(limits.MemoryPages, top.MemoryPages),
		TableEntries:  min(limits.TableEntries, top.TableEntries),
		CallDepth:     min(limits.CallDepth, top.CallDepth),
		HostCalls:     min(limits.HostCalls, top.HostCalls),
		HTTPRequests:  min(limits.HTTPRequests, top.HTTPRequests),
		HTTPBytes:     min(limits.HTTPBytes, top.HTTPBytes),
		HTTPRedirects: min(limits.HTTPRedirects, top.HTTPRedirects),
		OutputBytes:   min(limits.OutputBytes, top.OutputBytes),
		LogBytes:      min(limits.LogBytes, top.LogBytes),
		Leases:        min(limits.Leases, top.Leases),
	}
}

// resolve returns the limits of one plugin: the operator's word, else the manifest's, else the host's default. The
// operator may not go above the ceiling, the manifest is cut to it.
func resolve(cfg Config, entry sdk.Limits, manifest sdk.Manifest) (sdk.Limits, error) {
	top := over(cfg.Ceiling, ceiling())
	if entry != below(entry, top) {
		return sdk.Limits{}, fmt.Errorf("limits %s are above the host's ceiling %s", describe(entry), describe(top))
	}
	if entry != above(entry) || manifest.Limits != above(manifest.Limits) {
		return sdk.Limits{}, errors.New("limits must not be negative")
	}
	usual := over(cfg.Limits, defaults(manifest.Kind))
	return below(over(entry, over(manifest.Limits, usual)), top), nil
}

// above returns limits without what is negative.
func above(l sdk.Limits) sdk.Limits {
	l.Wall, l.Gas = max(l.Wall, 0), max(l.Gas, 0)
	for _, field := range []*int{&l.HostCalls, &l.HTTPRequests, &l.HTTPBytes, &l.HTTPRedirects, &l.OutputBytes, &l.LogBytes, &l.Leases} {
		*field = max(*field, 0)
	}
	return l
}

func describe(l sdk.Limits) string {
	return fmt.Sprintf("{wall: %s, gas: %d, memory_pages: %d, table_entries: %d, call_depth: %d, host_calls: %d, http_requests: %d, http_bytes: %d, http_redirects: %d, output_bytes: %d, log_bytes: %d, leases: %d}",
		time.Duration(l.Wall), l.Gas, l.MemoryPages, l.TableEntries, l.CallDepth, l.HostCalls, l.HTTPRequests, l.HTTPBytes,
		l.HTTPRedirects, l.OutputBytes, l.LogBytes, l.Leases)
}

// checkMemory refuses a module whose memory does not fit before it runs.
func (s *shape) checkMemory(limits sdk.Limits, budget int64) error {
	if len(s.memories) != 1 {
		return fmt.Errorf("a module has exactly one memory of its own, not %d", len(s.memories))
	}
	low := s.memories[0].low
	if low > uint64(limits.MemoryPages) {
		return fmt.Errorf("the module starts with %d memory pages, its limit is %d; the operator may raise limits.memory_pages", low, limits.MemoryPages)
	}
	if low*pageSize > uint64(budget) {
		return fmt.Errorf("the module starts with %d memory pages, all plugins together may have %d bytes; the operator may raise plugins.limits.memory_bytes", low, budget)
	}
	return nil
}
