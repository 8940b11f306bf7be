package host

import (
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// LimitsConfig bounds one call of a plugin. Zero means the manifest's word, else the host's default.
type LimitsConfig struct {
	Wall          time.Duration `key:"wall" default:"0s" min:"0s" max:"1h" about:"Wall time; 0s means the host's default."`
	Gas           int64         `key:"gas" default:"0" min:"0" max:"10000000000000000" about:"Work, about one an instruction; 0 means the host's default."`
	MemoryPages   uint32        `key:"memory_pages" default:"0" min:"0" max:"65536" about:"Memory in pages of 64 KiB; 0 means the host's default."`
	TableEntries  uint32        `key:"table_entries" default:"0" min:"0" max:"1048576" about:"Entries of all tables together; 0 means the host's default."`
	CallDepth     uint32        `key:"call_depth" default:"0" min:"0" max:"500000" about:"Calls nested in each other; 0 means the host's default."`
	HostCalls     int           `key:"host_calls" default:"0" min:"0" max:"100000000" about:"Calls of the host; 0 means the host's default."`
	HTTPRequests  int           `key:"http_requests" default:"0" min:"0" max:"1000" about:"HTTP requests; 0 means the host's default."`
	HTTPBytes     int           `key:"http_bytes" default:"0" min:"0" max:"268435456" about:"Bytes sent and received over HTTP; 0 means the host's default."`
	HTTPRedirects int           `key:"http_redirects" default:"0" min:"0" max:"20" about:"Redirects followed for one HTTP request; 0 means the host's default."`
	OutputBytes   int           `key:"output_bytes" default:"0" min:"0" max:"268435456" about:"Size of one answer; 0 means the host's default."`
	LogBytes      int           `key:"log_bytes" default:"0" min:"0" max:"268435456" about:"Log output; 0 means the host's default."`
	Leases        int           `key:"leases" default:"0" min:"0" max:"1024" about:"Calls at once; 0 means the host's default."`
}

// PluginLimitsConfig bounds the plugin host as a whole, and what any plugin may be given.
type PluginLimitsConfig struct {
	ModuleBytes int           `key:"module_bytes" default:"67108864" min:"1024" max:"67108864" about:"Size of a module."`
	MemoryBytes int64         `key:"memory_bytes" default:"1073741824" min:"1048576" max:"1099511627776" about:"Memory of all plugins together; who finds none waits, and is refused when its time is over."`
	CompileTime time.Duration `key:"compile_time" default:"2m" min:"10ms" max:"1h" about:"Time for compiling one module."`
	Waiting     int           `key:"waiting" default:"1024" min:"1" max:"1000000" about:"Calls of one plugin that may wait for an instance."`

	Wall          time.Duration `key:"wall" default:"0s" min:"0s" max:"5m" about:"Ceiling: wall time; 0s means the built-in ceiling."`
	Gas           int64         `key:"gas" default:"0" min:"0" max:"10000000000000000" about:"Ceiling: work, about one an instruction; 0 means the built-in ceiling."`
	MemoryPages   uint32        `key:"memory_pages" default:"0" min:"0" max:"8192" about:"Ceiling: memory in pages of 64 KiB; 0 means the built-in ceiling."`
	TableEntries  uint32        `key:"table_entries" default:"0" min:"0" max:"1048576" about:"Ceiling: entries of all tables together; 0 means the built-in ceiling."`
	CallDepth     uint32        `key:"call_depth" default:"0" min:"0" max:"500000" about:"Ceiling: calls nested in each other; 0 means the built-in ceiling."`
	HostCalls     int           `key:"host_calls" default:"0" min:"0" max:"100000000" about:"Ceiling: calls of the host; 0 means the built-in ceiling."`
	HTTPRequests  int           `key:"http_requests" default:"0" min:"0" max:"1000" about:"Ceiling: HTTP requests; 0 means the built-in ceiling."`
	HTTPBytes     int           `key:"http_bytes" default:"0" min:"0" max:"268435456" about:"Ceiling: bytes sent and received over HTTP; 0 means the built-in ceiling."`
	HTTPRedirects int           `key:"http_redirects" default:"0" min:"0" max:"20" about:"Ceiling: redirects followed for one HTTP request; 0 means the built-in ceiling."`
	OutputBytes   int           `key:"output_bytes" default:"0" min:"0" max:"16777216" about:"Ceiling: size of one answer; 0 means the built-in ceiling."`
	LogBytes      int           `key:"log_bytes" default:"0" min:"0" max:"1048576" about:"Ceiling: log output; 0 means the built-in ceiling."`
	Leases        int           `key:"leases" default:"0" min:"0" max:"1024" about:"Ceiling: calls at once; 0 means the built-in ceiling."`
}

// Limits returns the bounds in the words of the plugin host.
func (l LimitsConfig) Limits() sdk.Limits {
	return sdk.Limits{
		Wall:          sdk.Duration(l.Wall),
		Gas:           l.Gas,
		MemoryPages:   l.MemoryPages,
		TableEntries:  l.TableEntries,
		CallDepth:     l.CallDepth,
		HostCalls:     l.HostCalls,
		HTTPRequests:  l.HTTPRequests,
		HTTPBytes:     l.HTTPBytes,
		HTTPRedirects: l.HTTPRedirects,
		OutputBytes:   l.OutputBytes,
		LogBytes:      l.LogBytes,
		Leases:        l.Leases,
	}
}

// ceiling returns the most that a plugin may be given.
func (l PluginLimitsConfig) ceiling() sdk.Limits {
	return LimitsConfig{
		Wall:          l.Wall,
		Gas:           l.Gas,
		MemoryPages:   l.MemoryPages,
		TableEntries:  l.TableEntries,
		CallDepth:     l.CallDepth,
		HostCalls:     l.HostCalls,
		HTTPRequests:  l.HTTPRequests,
		HTTPBytes:     l.HTTPBytes,
		HTTPRedirects: l.HTTPRedirects,
		OutputBytes:   l.OutputBytes,
		LogBytes:      l.LogBytes,
		Leases:        l.Leases,
	}.Limits()
}

// hostConfig is what the plugin host is set up with.
func (c PluginsConfig) hostConfig(log *slog.Logger) wasm.Config {
	return wasm.Config{
		CacheDir: c.CacheDir, Ceiling: c.Limits.ceiling(), Log: log, ModuleBytes: c.Limits.ModuleBytes,
		MemoryBytes: c.Limits.MemoryBytes, CompileTime: c.Limits.CompileTime, Waiting: c.Limits.Waiting, Idle: c.Idle,
	}
}

// mode returns the entry's mode in the words of the plugin host.
func (p PluginConfig) mode() wasm.Mode {
	if p.Mode == "auto" {
		return ""
	}
	return wasm.Mode(p.Mode)
}
