package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/host/internal/web/fastreact"
)

// Reload takes up what may change while the service runs: the policy section of the configuration file, and the skills
// folder. Each that cannot be read stays as it was.
func (s *Server) Reload() error {
	var policyErr error
	if s.options.Reload != nil {
		_, policyErr = s.reloadPolicy()
	}
	return errors.Join(policyErr, s.reloadSkills())
}

// reloadPolicy puts the policy section of the configuration file in force as it is written now, and nothing else of it.
// A file that is not valid as a whole changes nothing, and the error is a *ConfigError with every problem. Whether
// everything is allowed was said by a flag at the start, and stays.
func (s *Server) reloadPolicy() (fastreact.Reload, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	loaded, err := s.options.Reload()
	if err != nil {
		return fastreact.Reload{}, fmt.Errorf("reload policy: %w", err)
	}
	cfg := s.options.Config
	cfg.Policy = loaded.Config.Policy
	rules, err := policy.Compile(cfg.rules())
	if err != nil {
		return fastreact.Reload{}, fmt.Errorf("reload policy: %w", err)
	}
	reload := fastreact.Reload{Before: s.gate.Policy().Hash}
	reload.After = s.gate.Enforce(rules).Hash
	s.options.Log.Info("policy reloaded", slog.String("before", reload.Before), slog.String("after", reload.After))
	return reload, nil
}

// ReloadPolicy is reloadPolicy in the words of the face.
func (s *Server) ReloadPolicy(context.Context) (fastreact.Reload, []web.FieldError, error) {
	reload, err := s.reloadPolicy()
	if err == nil {
		return reload, nil, nil
	}
	s.options.Log.Warn("policy not reloaded", slog.Any("error", err))
	var invalid *ConfigError
	if !errors.As(err, &invalid) {
		invalid = &ConfigError{Problems: []Problem{{Message: "the configuration file cannot be read"}}}
	}
	var faults []web.FieldError
	for _, problem := range invalid.Problems {
		problem.Source = ""
		faults = append(faults, web.FieldError{
			Type: "value_error", Loc: []any{"config", problem.Path}, Msg: problem.Error(),
		})
	}
	return fastreact.Reload{}, faults, nil
}

// Audits returns audit records of all runs.
func (s *Server) Audits(ctx context.Context, after int64, limit int) ([]run.Audit, error) {
	return s.ledger.Audits(ctx, nil, after, limit)
}
