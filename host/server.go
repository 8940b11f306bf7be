package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/approval"
	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/host/internal/dispatch"
	"github.com/fastreact/fastreact/host/internal/duty"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/harness"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/skill"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// pollInterval is how often waiting parts look for work that nobody announced.
const pollInterval = time.Second

// Options is what a server is made of. Natives are owned by the server from New on, also when New fails.
type Options struct {
	Config  Config
	Natives []sdk.Native
	Modules []Module
	Version string
	Log     *slog.Logger
	Egress  *Egress // the way out that natives were given; nil = one of the server's own

	// Reload reads the configuration again, for its policy and plugins sections. nil = there is no file to read.
	Reload func() (*Loaded, error)
	File   string // the configuration file, to be watched; empty = none

	// Announce is told each address under which a person may open the page of the agent tools, before it works. It holds
	// a credential: show it to who started the service, and to no log. nil = nobody is told.
	Announce func(url string)
}

// Server is the assembled house. New makes one, Run serves until its context ends, Close undoes New.
type Server struct {
	options    Options
	plugins    *wasm.Host
	ledger     ledger.Ledger
	gate       *gate.Gate
	model      model.Client // that every run asks
	harness    *harness.Harness
	desk       *approval.Desk
	runs       *dispatch.Dispatcher
	owner      string // this incarnation, among all that ever owned a run
	duties     *duty.Roster
	skills     *skill.Shelf
	tools      *agentTools // nil: there are none
	handler    http.Handler
	serving    atomic.Pointer[generation]
	lending    sync.Mutex                    // held while what serves changes, and while its guards are lent
	wanted     atomic.Pointer[PluginsConfig] // what the configuration asked for when it was last read whole
	trouble    atomic.Pointer[trouble]       // why the last reload failed; nil when it did not
	quotas     *capability.Quotas            // of workspaces, whatever plugins write there
	rules      *policy.Rules                 // in force; belongs to whoever has the turn
	turn       chan struct{}                 // of reloads, one at a time: whoever put something in has it
	shut       chan struct{}                 // closed when no reload may begin any more
	firstSight sight                         // of the plugins' files, before they were read
	retiring   sync.WaitGroup                // plugins that are replaced and not closed yet
	stopping   chan struct{}                 // closed when streams shall end
	closers    []func() error                // undo, last first
	closing    sync.Once
}

// New builds everything that needs no waiting. What an earlier process left behind is taken over by Run. Plugins are
// compiled by Run, beside the listener.
func New(ctx context.Context, options Options) (server *Server, err error) {
	s := unbuilt(options)
	for _, native := range options.Natives {
		s.closers = append(s.closers, native.Close)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, build := range []func(context.Context) error{
		s.openLedger, s.openPlugins, s.openSkills, s.buildResearch, s.buildGate, s.buildHarness, s.buildRuns, s.buildFace,
		s.buildAgentTools,
	} {
		if err := build(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// unbuilt returns a server of which nothing is built yet.
func unbuilt(options Options) *Server {
	space := options.Config.Workspace
	if options.Egress == nil {
		options.Egress = NewEgress(options.Config)
	}
	return &Server{
		options: options, owner: incarnation(options.Config), stopping: make(chan struct{}), turn: make(chan struct{}, 1), shut: make(chan struct{}),
		quotas: capability.NewQuotas(capability.Quota{Bytes: space.QuotaBytes, Files: space.QuotaFiles}),
	}
}

func (s *Server) openPlugins(context.Context) error {
	cfg := s.options.Config
	s.wanted.Store(&cfg.Plugins)
	s.firstSight = lookAt(s.watchedFiles())
	residents, err := readPlugins(cfg.Plugins, s.options.Modules, nil)
	if err != nil {
		return err
	}
	first := &generation{number: 1, since: time.Now(), residents: residents}
	first.hold()
	s.serving.Store(first)
	setup := cfg.Plugins.hostConfig(s.options.Log)
	setup.World = s.options.Egress.world(cfg, s.ledger)
	s.plugins, err = wasm.New(setup)
	if err != nil {
		return fmt.Errorf("open plugin host: %w", err)
	}
	s.closers = append(s.closers, func() error { return s.plugins.Close(context.Background()) }, s.endReloads)
	return nil
}

func (s *Server) buildRuns(context.Context) error {
	cfg := s.options.Config
	s.desk = approval.New(approval.Config{
		Store: s.ledger, Runs: s.ledger, Rechecker: s.gate, Patience: cfg.Approvals.Timeout, Log: s.options.Log,
	})
	driver := agent.New(agent.Config{
		Model: s.model, Gate: s.gate, Ledger: s.ledger, Desk: s.desk,
		System: cfg.Agent.SystemPrompt, MaxIterations: cfg.Agent.MaxIterations,
		MaxToolCalls: cfg.Agent.MaxToolCalls, MaxResultBytes: cfg.Tools.MaxResultBytes,
		UncheckedAnswers: !cfg.Agent.AnswerCheck, RewriteTimeout: cfg.Agent.RewriteTimeout,
		MaxProgressBytes: cfg.Tools.MaxProgressBytes, Secret: holdsSecret(cfg),
		PolicyHash: func() string { return s.gate.Policy().Hash }, Log: s.options.Log,
		Skills: s.skills, SkillBytes: cfg.Skills.PromptBytes, MemoryTurns: cfg.Agent.MemoryTurns,
		MemoryBytes: cfg.Agent.MemoryBytes, ContextBytes: cfg.Agent.ContextBytes, Profiles: s.harness.Profiles(),
	})
	s.duties = duty.New(duty.Config{Store: s.ledger, Owner: s.owner, Lease: cfg.Workers.Lease, Log: s.options.Log})
	s.runs = dispatch.New(dispatch.Config{
		Store: s.ledger, Driver: driver, Node: nodeLabel(cfg), Owner: s.owner,
		Chats: cfg.Workers.Chat, Workers: cfg.Workers.Background, Queue: cfg.Workers.Queue,
		Lease: cfg.Workers.Lease, CrashLimit: cfg.Workers.CrashLimit,
		RunTimeout: cfg.Agent.RunTimeout, Log: s.options.Log,
		Poll: min(pollInterval, cfg.Workers.Lease/4), // so that a takeover comes within a lease and a second
	})
	return nil
}

// nodeLabel is what people call this process.
func nodeLabel(cfg Config) string {
	if cfg.Workers.Node != "" {
		return cfg.Workers.Node
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// incarnation names this process among all that ever owned a run.
func incarnation(cfg Config) string { return nodeLabel(cfg) + "/" + run.NewID("") }

// Handler returns the HTTP face, for embedding. Run serves it on the configured address.
func (s *Server) Handler() http.Handler { return s.handler }

// Run listens on the configured address and serves until ctx ends; then it stops taking runs, lets those under way
// finish within the grace and returns. ready is told the bound address once requests are accepted.
func (s *Server) Run(ctx context.Context, ready func(addr net.Addr)) error {
	listener, err := net.Listen("tcp", s.options.Config.Server.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.options.Egress.own(listener.Addr())
	tools, err := s.listenTools()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	background, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, part := range []func(context.Context){
		s.compilePlugins, s.watchPlugins, s.loadNatives, s.runs.Serve, s.watchDesk, s.tellPeople, s.prune,
		s.warnOfNamesakes,
	} {
		parts.Go(func() { part(background) })
	}
	web := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	failed := make(chan error, 2)
	parts.Go(func() { failed <- web.Serve(listener) })
	if tools != nil {
		parts.Go(func() { failed <- s.serveTools(serving, tools) })
	}
	ready(listener.Addr())
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = nil
	}
	stopServing()
	s.drain(web)
	stop()
	parts.Wait()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// drain lets runs and requests finish within the grace.
func (s *Server) drain(web *http.Server) {
	grace, stop := context.WithTimeout(context.Background(), s.options.Config.Server.ShutdownGrace)
	defer stop()
	var beside sync.WaitGroup
	beside.Go(func() { s.drainTools(grace) })
	s.runs.Close(grace)
	beside.Wait()
	close(s.stopping)
	last, stopLast := context.WithTimeout(context.Background(), time.Second)
	defer stopLast()
	if err := web.Shutdown(last); err != nil {
		_ = web.Close() // readers that are still there are cut; what they missed is in the log
	}
	if err := s.harness.Close(last); err != nil {
		s.options.Log.Warn("work of guarded runs was left behind", slog.Any("error", err))
	}
}

// compilePlugins compiles the modules one by one: two at a time would only fight for the same cores. Those that judge
// calls come first, for they are asked about every one, then the readers for which the address of the agent tools waits,
// then those that judge answers.
func (s *Server) compilePlugins(ctx context.Context) {
	s.compileThose(ctx, func(r *resident) bool { return r.manifest().Kind.Pure() && r.manifest().Kind != sdk.KindGuard })
	s.compileThose(ctx, func(r *resident) bool { return r.profile == AgentTools })
	s.compileThose(ctx, func(r *resident) bool { return r.manifest().Kind == sdk.KindGuard })
	s.compileThose(ctx, func(r *resident) bool { return !r.manifest().Kind.Pure() })
	debug.FreeOSMemory() // a compiler's litter is many times what it made
}

func (s *Server) compileThose(ctx context.Context, chosen func(*resident) bool) {
	for _, r := range s.serving.Load().residents {
		if chosen(r) {
			r.compile(ctx, s.plugins, s.options.Log)
		}
	}
}

// loadNatives starts what native plugins need, so that the first run need not wait for it.
func (s *Server) loadNatives(ctx context.Context) {
	for _, native := range s.options.Natives {
		native.Tools(ctx)
	}
}

// watchDesk expires approvals, one process at a time; whoever reads or answers one expires it too.
func (s *Server) watchDesk(ctx context.Context) {
	s.duties.Keep(ctx, "expiry", func(ctx context.Context) {
		if err := s.desk.Watch(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.Error("approval desk stopped", slog.Any("error", err))
		}
	})
}

// Close undoes New. It may be called more than once, and not before Run has returned.
func (s *Server) Close() error {
	var problems []error
	s.closing.Do(func() {
		if s.runs != nil {
			ended, stop := context.WithCancel(context.Background())
			stop()
			s.runs.Close(ended)
		}
		for i := len(s.closers) - 1; i >= 0; i-- {
			problems = append(problems, s.closers[i]())
		}
	})
	return errors.Join(problems...)
}
