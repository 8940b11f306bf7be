package host

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/harness"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web/fastreact"
)

// undoPatience bounds the wait for work of guarded runs when a server is taken down that was not drained.
const undoPatience = 5 * time.Second

// buildHarness makes the one graph of guarded runs, over the model that every run asks. Guards are lent at each call: a reload reaches runs under way.
func (s *Server) buildHarness(context.Context) (err error) {
	cfg := s.options.Config
	s.model = model.Discreet(newModel(cfg.Model, s.options.Log), maskOf(cfg))
	wanted := harnessOf(cfg.Harness.Chat, s.guards)
	if cfg.Harness.Chat.SecondOpinion {
		wanted.SecondOpinion = s.ask
	}
	if s.harness, err = harness.New(wanted); err != nil {
		return fmt.Errorf("build harness: %w", err)
	}
	s.closers = append(s.closers, func() error {
		ctx, stop := context.WithTimeout(context.Background(), undoPatience)
		defer stop()
		return s.harness.Close(ctx)
	})
	return nil
}

// ask puts one question to the model.
func (s *Server) ask(ctx context.Context, system, question string) (string, error) {
	reply, err := s.model.Complete(ctx, model.Request{Messages: []run.Message{
		{Role: run.System, Content: system}, {Role: run.User, Content: question},
	}}, nil)
	return reply.Text, err
}

// harnessOf translates the configuration into the harness's words.
func harnessOf(cfg ChatHarnessConfig, guards release.Guards) harness.Config {
	return harness.Config{
		Worker: harness.Pool(cfg.Worker),
		Model:  harness.Pool{Size: cfg.Model.Size, Queue: cfg.Model.Queue},
		Tool:   harness.Pool{Size: cfg.Tool.Size, Queue: cfg.Tool.Queue},

		ModelTimeout: cfg.Model.Timeout, ToolTimeout: cfg.Tool.Timeout,
		MaxSteps: cfg.MaxSteps, MaxToolCalls: cfg.MaxToolCalls, MaxRepairs: cfg.MaxRepairs,
		MaxContentBytes: cfg.MaxContentBytes, Guards: guards,
		Canonical: release.Canonical{
			TTL: cfg.Canonical.TTL, MaxItems: cfg.Canonical.MaxItems, MaxItemBytes: cfg.Canonical.MaxItemBytes,
			MaxBytes: cfg.Canonical.MaxBytes,
		},
	}
}

// executors returns how full the executors of guarded runs are, by name.
func (s *Server) executors() map[string]fastreact.ExecutorStats {
	all := map[string]fastreact.ExecutorStats{}
	for _, one := range s.harness.Executors() {
		all[one.Name] = fastreact.ExecutorStats{
			Size: one.Size, Queue: one.Queue, InUse: one.Running, Waiting: one.Waiting, Rejected: one.Rejected,
		}
	}
	return all
}
