package host

import (
	"context"
	"fmt"
	"log/slog"
	"time"

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
	regime, err := s.regime(s.serving.Load(), rules)
	if err != nil {
		return err
	}
	s.rules = rules
	s.gate, err = newGate(regime, audit.New(s.ledger), cfg.Tools.Timeout, s.options.Log)
	return err
}

// newGate builds a gate over a regime. Whoever runs tools in this program does it through one that was built here; a
// server has one.
func newGate(r gate.Regime, books gate.Recorder, patience time.Duration, log *slog.Logger) (*gate.Gate, error) {
	return gate.New(gate.Config{
		Sources: r.Sources, Rules: r.Rules, ExecGuard: r.ExecGuard, Judges: r.Judges, Scoper: r.Scoper,
		Recorder: books, ToolTimeout: patience, Log: log,
	})
}

// sources lists who runs tools while a generation serves.
func (s *Server) sources(g *generation) ([]gate.Source, error) {
	cfg := s.options.Config
	tools, err := newWasmTools(g.kindOf(sdk.KindTool), folders{
		root: cfg.Workspace.Root, quotas: s.quotas, configured: cfg.AgentTools.Workspaces,
	})
	if err != nil {
		return nil, err
	}
	var sources []gate.Source
	if s.tools != nil {
		sources = append(sources, s.tools.desk) // first: no plugin takes the name of one of its tools
	}
	sources = append(sources, tools, handle.New(s.ledger, cfg.Tools.MaxResultBytes))
	for _, native := range s.options.Natives {
		sources = append(sources, nativeTools{native})
	}
	for i, source := range sources {
		sources[i] = repeatable{source, cfg.Tools.Idempotent}
	}
	return sources, nil
}
