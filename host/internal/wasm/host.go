package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// Config sets up a Host. The zero value is usable: no cache on disk, default limits, no log.
type Config struct {
	CacheDir string     // folder for compiled code; empty means none. It must belong to this user.
	Limits   sdk.Limits // for plugins that say nothing; zero fields mean the default of the plugin's kind
	Ceiling  sdk.Limits // nobody gets more; zero fields mean the built-in ceiling
	Log      *slog.Logger
	World    World

	ModuleBytes int           // size of a module; 0 means 64 MiB
	MemoryBytes int64         // linear memory of all plugins together; 0 means 1 GiB
	CompileTime time.Duration // for one module; 0 means 2 minutes
	// Idle is how long the code of a tool that no call uses stays in memory; then it comes back from CacheDir when it is
	// called. 0, or no CacheDir, means for ever.
	Idle    time.Duration
	Waiting int // calls of one plugin that may wait for an instance; 0 means 1024
}

// Bounds of the host, where the configuration says nothing.
const (
	defaultModuleBytes = 64 << 20
	defaultMemoryBytes = 1 << 30
	defaultCompileTime = 2 * time.Minute
	defaultWaiting     = 1024
)

func (c Config) complete() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.ModuleBytes == 0 {
		c.ModuleBytes = defaultModuleBytes
	}
	if c.MemoryBytes == 0 {
		c.MemoryBytes = defaultMemoryBytes
	}
	if c.CompileTime == 0 {
		c.CompileTime = defaultCompileTime
	}
	c.World = c.World.complete()
	if c.Waiting == 0 {
		c.Waiting = defaultWaiting
	}
	return c
}

// Host loads plugins and runs them. It may be used from many goroutines. Close it to free the compiled code.
type Host struct {
	config  Config
	engines *engines
	budget  *memoryBudget
	loads   *calls
	log     *slog.Logger

	mu      sync.Mutex
	plugins map[*Plugin]bool
	closed  bool
}

// New checks the cache folder and returns a host without plugins.
func New(cfg Config) (*Host, error) {
	cfg = cfg.complete()
	if cfg.CacheDir != "" {
		dir, err := filepath.Abs(cfg.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("wasm cache: %w", err)
		}
		if err := openCacheDir(dir, cfg.Log); err != nil {
			return nil, err
		}
		cfg.CacheDir = dir
	}
	if cfg.Ceiling != below(cfg.Ceiling, ceiling()) {
		return nil, errors.New("plugin host: the ceiling is above " + describe(ceiling()))
	}
	h := &Host{
		config: cfg, budget: &memoryBudget{limit: cfg.MemoryBytes}, loads: newCalls(), log: cfg.Log, plugins: map[*Plugin]bool{},
	}
	h.budget.shed = h.shed
	h.engines = &engines{config: cfg, budget: h.budget, known: map[string]*sharedEngine{}}
	return h, nil
}

// MemoryInUse returns the bytes of linear memory that the instances of all plugins have.
func (h *Host) MemoryInUse() int64 { return h.budget.inUse() }

// Close ends the calls that run, waits for them as long as ctx allows, and frees all code. When a guest does not end
// in time its code stays mapped and the error says so. Plugins fail with ErrClosed afterwards.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	if err := h.loads.close(ctx); err != nil {
		return fmt.Errorf("close plugin host: a module is still being loaded: %w", err)
	}
	for _, p := range h.all() {
		p.end()
	}
	for _, p := range h.all() {
		if err := p.pool.Close(ctx); err != nil {
			return fmt.Errorf("close plugin host: a guest still runs: %w", err)
		}
	}
	return h.engines.close(context.WithoutCancel(ctx))
}

// adopt remembers a plugin that was loaded; a closed host takes none.
func (h *Host) adopt(p *Plugin) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.plugins[p] = true
	return nil
}

func (h *Host) forget(p *Plugin) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.plugins, p)
}

func (h *Host) all() []*Plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*Plugin, 0, len(h.plugins))
	for p := range h.plugins {
		all = append(all, p)
	}
	return all
}

// shed frees the memory of what is idle, so that a call gets it.
func (h *Host) shed() {
	for _, p := range h.all() {
		p.pool.Shed()
	}
}
