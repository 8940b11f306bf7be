package workbench

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// stand is the plugin host of one trial. It loads the module once for each combination of grants and limits. One
// goroutine uses it.
type stand struct {
	module []byte
	grants sdk.Capabilities // when a case says nothing
	mode   wasm.Mode        // empty: the kind's own
	host   *wasm.Host
	stage  *stage
	loaded map[string]*wasm.Plugin
}

func newStand(subject *Subject, cfg wasm.Config) (*stand, error) {
	stage, err := newStage(subject)
	if err != nil {
		return nil, err
	}
	cfg.World = stage.world()
	host, err := wasm.New(cfg)
	if err != nil {
		return nil, err
	}
	return &stand{
		stage: stage, module: subject.Module, grants: manifestGrants(subject.Inspection.Requested),
		host: host, loaded: map[string]*wasm.Plugin{},
	}, nil
}

// plugin returns the module as the case wants it loaded. An error is what an operator would read.
func (s *stand) plugin(ctx context.Context, grants *sdk.Capabilities, limits sdk.Limits) (*wasm.Plugin, error) {
	if grants == nil {
		grants = &s.grants
	}
	key, err := json.Marshal([]any{grants, limits})
	if err != nil {
		return nil, fmt.Errorf("name a load: %w", err)
	}
	if known, there := s.loaded[string(key)]; there {
		return known, nil
	}
	plugin, err := s.host.Load(ctx, wasm.Module{Bytes: s.module, AllowUnpinned: true, Grants: *grants, Limits: limits, Mode: s.mode})
	if err != nil {
		return nil, err
	}
	s.loaded[string(key)] = plugin
	return plugin, nil
}

func (s *stand) close(ctx context.Context) error { return s.host.Close(context.WithoutCancel(ctx)) }

// modeOf says how a kind's calls are kept apart when nobody chooses.
func modeOf(kind sdk.Kind) wasm.Mode {
	if kind.Pure() {
		return wasm.ModeSnapshot
	}
	return wasm.ModeFresh
}
