package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// Inspection is what a reviewer reads about a module.
type Inspection = wasm.Inspection

// InspectPlugin reads a module without compiling or running it.
func InspectPlugin(module []byte) (Inspection, error) { return wasm.Inspect(module) }

// ReadPlugin reads the module of a load entry, joined with its manifest files. It is not checked.
func ReadPlugin(entry PluginConfig) ([]byte, error) {
	return wasm.ReadPlugin(entry.Path, entry.Manifest, 0)
}

// Probe is a call that is judged and not made.
type Probe struct {
	Tool    string
	Args    json.RawMessage
	UserKey string
	Tenant  string // empty: the prefix of UserKey before the colon
}

// Decision is policy's word on one call.
type Decision = run.Decision

// DryRun judges one call as the configured service would, without starting it. Natives belong to it and are closed.
func DryRun(ctx context.Context, options Options, probe Probe) (decision Decision, err error) {
	s := unbuilt(options)
	for _, native := range options.Natives {
		s.closers = append(s.closers, native.Close)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.openPlugins(ctx); err != nil {
		return Decision{}, err
	}
	if err := s.buildGate(ctx); err != nil {
		return Decision{}, err
	}
	s.compilePlugins(ctx)
	if !json.Valid(probe.Args) {
		return Decision{}, fmt.Errorf("the arguments are not JSON")
	}
	return s.gate.DryRun(ctx, gate.Probe{Tool: probe.Tool, Args: probe.Args, Identity: sdk.Identity{
		UserKey: probe.UserKey, TenantKey: policy.TenantOf(probe.UserKey, probe.Tenant),
	}}), nil
}
