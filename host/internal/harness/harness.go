package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/release"
)

// The profiles, by name.
const (
	Chat      = "chat"      // a question that is still to be routed
	Diagnosis = "diagnosis" // a report on the ground of evidence
	General   = "general"   // an answer without tools
)

// Pool sizes one executor.
type Pool struct {
	Size  int // goroutines
	Queue int // work that may wait
}

// Config is what a harness is made of. Every limit is above zero; its owner has checked them against each other.
type Config struct {
	Worker, Model, Tool       Pool
	ModelTimeout, ToolTimeout time.Duration // of one call, with its wait
	MaxSteps, MaxToolCalls    int           // of one run
	MaxRepairs                int           // model rounds after a rejected draft
	MaxContentBytes           int           // of a released answer
	Canonical                 release.Canonical
	Guards                    release.Guards // in force at the time of each call
	SecondOpinion             release.Ask    // of the model about a diagnosis, after the guards; nil: none is asked for
}

// Harness is the graph. It may be used from many goroutines.
type Harness struct {
	worker, model, tool *executor.Executor
	profiles            map[string]agent.Profile
}

// New builds the graph and starts its executors. The caller must Close it.
func New(cfg Config) (*Harness, error) {
	h := &Harness{}
	for _, one := range []struct {
		name     string
		pool     Pool
		executor **executor.Executor
	}{{"worker", cfg.Worker, &h.worker}, {"model", cfg.Model, &h.model}, {"tool", cfg.Tool, &h.tool}} {
		started, err := executor.New(executor.Config{Name: one.name, Size: one.pool.Size, Queue: one.pool.Queue})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("build harness: %w", err), h.Close(context.Background()))
		}
		*one.executor = started
	}
	h.profiles = h.build(cfg)
	return h, nil
}

// build makes the profiles. All of them share the executors.
func (h *Harness) build(cfg Config) map[string]agent.Profile {
	told := prompts()
	shared := agent.Profile{
		MaxIterations: cfg.MaxSteps, MaxToolCalls: cfg.MaxToolCalls,
		Models: h.model, ToolSlots: h.tool, ModelTimeout: cfg.ModelTimeout, ToolTimeout: cfg.ToolTimeout,
	}
	exit := release.ExitConfig{
		Guards: cfg.Guards, Repairs: cfg.MaxRepairs, Canonical: cfg.Canonical, MaxContentBytes: cfg.MaxContentBytes,
		Private: []string{told.router, told.diagnosis, told.general, told.opinion},
	}
	chat, diagnosis, general := shared, shared, shared
	chat.Name, chat.Router = Chat, Router{told.router}
	diagnosis.Name, diagnosis.System, diagnosis.Tools = Diagnosis, told.diagnosis, release.EvidenceTools()
	general.Name, general.System = General, told.general
	exit.Kind = release.ContentAnswer
	general.Exit = release.NewExit(exit)
	exit.Kind, exit.Guards = release.ContentReport, h.withOpinion(cfg, told.opinion)
	diagnosis.Exit = release.NewExit(exit)
	return map[string]agent.Profile{Chat: chat, Diagnosis: diagnosis, General: general}
}

// Profiles returns the profiles by name. The map is the harness's own; do not change it.
func (h *Harness) Profiles() map[string]agent.Profile { return h.profiles }

// Worker returns where streams are served.
func (h *Harness) Worker() *executor.Executor { return h.worker }

// Executors returns how the three executors are, always in the same order.
func (h *Harness) Executors() []executor.Stats {
	return []executor.Stats{h.worker.Stats(), h.model.Stats(), h.tool.Stats()}
}

// Close takes no more work and waits for what is under way, until ctx ends: streams first, for they wait for calls. It
// may be called more than once.
func (h *Harness) Close(ctx context.Context) error {
	var problems []error
	for _, each := range []*executor.Executor{h.worker, h.model, h.tool} {
		if each != nil {
			problems = append(problems, each.Close(ctx))
		}
	}
	return errors.Join(problems...)
}
