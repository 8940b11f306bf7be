package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
)

// reach is what a reload takes up of the configuration file. Every other section waits for a restart.
type reach struct{ rules, plugins bool }

var (
	errStopping = &run.Error{Code: run.CodeNotReady, Sentence: "The service is stopping.", Op: "reload"}
	errNoFile   = errors.New("the service runs without a configuration file: there is nothing to read again")
)

// reloaded says what a reload changed.
type reloaded struct {
	before, after         *generation
	hashBefore, hashAfter string // of the policy
}

// Reload takes up what may change while the service runs: the policy and the plugins section of the configuration
// file, the plugins themselves, and the skills folder. What cannot be read stays as it was. Policy and plugins change
// together or not at all.
func (s *Server) Reload() error {
	err := s.reloadSkills() // first: they wait for nothing
	if s.options.Reload != nil {
		_, other := s.reload(context.Background(), reach{rules: true, plugins: true})
		err = errors.Join(err, other)
	}
	return err
}

// reload reads the configuration again, builds what differs whole, and only then puts it in force. When a step fails
// everything stays, and the error is a *ConfigError, or joins a *refusedPlugin for each plugin. One reload runs at a
// time; one that has begun goes on when ctx ends, and ends when the service does.
func (s *Server) reload(ctx context.Context, of reach) (reloaded, error) {
	if s.options.Reload == nil {
		return reloaded{}, errNoFile
	}
	if err := s.takeTurn(ctx); err != nil {
		return reloaded{}, err
	}
	defer s.endTurn()
	ctx, stop := s.whileServing(ctx)
	defer stop()
	done, err := s.reloadInTurn(ctx, of)
	if ctx.Err() != nil {
		return reloaded{}, errStopping
	}
	if of.plugins {
		s.remember(err)
	}
	if err != nil {
		s.options.Log.Warn("not reloaded; what served goes on", slog.Any("error", err))
		return reloaded{}, fmt.Errorf("reload: %w", err)
	}
	s.options.Log.Info("reloaded", slog.Int("generation", done.after.number),
		slog.String("before", done.hashBefore), slog.String("after", done.hashAfter))
	return done, nil
}

func (s *Server) reloadInTurn(ctx context.Context, of reach) (reloaded, error) {
	loaded, err := s.options.Reload()
	if err != nil {
		return reloaded{}, err
	}
	s.wanted.Store(&loaded.Config.Plugins)
	rules, before := s.rules, s.serving.Load()
	if of.rules {
		cfg := s.options.Config // whether everything is allowed was said by a flag at the start, and stays
		cfg.Policy = loaded.Config.Policy
		if rules, err = policy.Compile(cfg.rules()); err != nil {
			return reloaded{}, err
		}
	}
	next := before
	if of.plugins {
		if next, err = s.nextGeneration(ctx, loaded.Config.Plugins, before); err != nil {
			return reloaded{}, err
		}
	}
	return s.publish(before, next, rules, loaded.Config.Plugins.DrainTimeout)
}

// nextGeneration builds the plugins of a configuration whole, and returns the generation before when nothing differs.
// Nothing is left of it when a step fails.
func (s *Server) nextGeneration(ctx context.Context, cfg PluginsConfig, before *generation) (*generation, error) {
	residents, err := readPlugins(cfg, s.options.Modules, before)
	if err != nil {
		return nil, err
	}
	next := &generation{number: before.number + 1, residents: residents}
	if next.sameAs(before) {
		return before, before.load(ctx, s)
	}
	next.hold()
	if err = s.newTools(ctx, before, next); err == nil {
		err = next.load(ctx, s)
	}
	if err != nil {
		s.letGo(next.residents)
		return nil, err
	}
	return next, nil
}

// publish puts a generation and rules in force, at once and together.
func (s *Server) publish(before, next *generation, rules *policy.Rules, patience time.Duration) (reloaded, error) {
	done := reloaded{before: before, after: next, hashBefore: s.gate.Policy().Hash}
	if next == before {
		done.hashAfter = s.gate.Policy().Hash
		if rules != s.rules {
			done.hashAfter = s.gate.Enforce(rules).Hash
		}
		s.rules = rules
		return done, nil
	}
	regime, err := s.regime(next, rules)
	if err != nil {
		s.letGo(next.residents)
		return reloaded{}, err
	}
	next.since = time.Now()
	snapshot, left := s.gate.Replace(regime)
	s.serve(next)
	s.rules, done.hashAfter = rules, snapshot.Hash
	s.retire(before, left, patience)
	return done, nil
}

// takeTurn waits until no other reload runs.
func (s *Server) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.shut:
		return errStopping
	}
	select {
	case <-s.shut:
		s.endTurn()
		return errStopping
	default:
		return nil
	}
}

func (s *Server) endTurn() { <-s.turn }

// whileServing returns a context that ends when no reload may go on.
func (s *Server) whileServing(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-s.shut:
			cancel(errStopping)
		case <-s.stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-over }
}

// endReloads waits for a reload that runs and for plugins that are being closed. None begins afterwards.
func (s *Server) endReloads() error {
	close(s.shut)
	s.turn <- struct{}{}
	s.retiring.Wait()
	return nil
}
