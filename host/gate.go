package host

import (
	"context"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/audit"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/handle"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/sdk"
)

// execGuard is the built-in policy whose word is the heuristic for exec, and whose deny overrides every rule.
const execGuard = "exec-guard"

func (s *Server) buildGate(context.Context) error {
	cfg := s.options.Config
	rules, err := policy.Compile(cfg.rules())
	if err != nil {
		return fmt.Errorf("compile policy: %w", err)
	}
	sources, err := s.sources()
	if err != nil {
		return err
	}
	parts := gate.Config{
		Sources: sources, Rules: rules, Recorder: audit.New(s.ledger), ToolTimeout: cfg.Tools.Timeout,
		Log: s.options.Log,
	}
	for _, r := range s.kindOf(sdk.KindPolicy) {
		if r.module.Builtin && r.Name() == execGuard {
			parts.ExecGuard = r
			continue
		}
		parts.Judges = append(parts.Judges, r)
	}
	var scopers []gate.Scoper
	for _, r := range s.kindOf(sdk.KindScope) {
		scopers = append(scopers, r)
	}
	parts.Scoper = gate.Scopers(scopers...)
	s.gate, err = gate.New(parts)
	return err
}

func (s *Server) sources() ([]gate.Source, error) {
	tools, err := newWasmTools(s.kindOf(sdk.KindTool), s.options.Config.Workspace)
	if err != nil {
		return nil, err
	}
	sources := []gate.Source{tools, handle.New(s.ledger, s.options.Config.Tools.MaxResultBytes)}
	for _, native := range s.options.Natives {
		sources = append(sources, nativeTools{native})
	}
	return sources, nil
}
