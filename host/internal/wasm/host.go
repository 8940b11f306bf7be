package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/fastreact/fastreact/sdk"
)

// Config sets up a Host. The zero value is usable: no cache on disk, default limits, no log.
type Config struct {
	CacheDir string     // folder for compiled code; empty means none. It must belong to this user.
	Limits   sdk.Limits // for plugins that say nothing; zero fields mean the default of the plugin's kind
	Ceiling  sdk.Limits // nobody gets more; zero fields mean the built-in ceiling
	Log      *slog.Logger
}

// Host loads plugins and runs them. It may be used from many goroutines. Close it to free the compiled code.
type Host struct {
	config  Config
	engines *engines
	calls   *calls
	log     *slog.Logger
}

// New checks the cache folder and returns a host without plugins.
func New(cfg Config) (*Host, error) {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if cfg.CacheDir != "" {
		dir, err := filepath.Abs(cfg.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("wasm cache: %w", err)
		}
		if err := openCacheDir(dir, log); err != nil {
			return nil, err
		}
		cfg.CacheDir = dir
	}
	if cfg.Ceiling != below(cfg.Ceiling, ceiling()) {
		return nil, errors.New("plugin host: the ceiling is above " + describe(ceiling()))
	}
	return &Host{
		config:  cfg,
		engines: &engines{cacheDir: cfg.CacheDir, log: log, known: map[string]*sharedEngine{}},
		calls:   newCalls(),
		log:     log,
	}, nil
}

// Close ends the calls that run, waits for them as long as ctx allows, and frees all code. When a guest does not end
// in time its code stays mapped and the error says so. Plugins fail with ErrClosed afterwards.
func (h *Host) Close(ctx context.Context) error {
	if err := h.calls.close(ctx); err != nil {
		return fmt.Errorf("close plugin host: a guest still runs: %w", err)
	}
	return h.engines.close(context.WithoutCancel(ctx))
}
