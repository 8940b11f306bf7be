package fastreact

import (
	"context"
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Schema is the version of the events, and the name of the whole contract.
const Schema = "fastreact.agent_event.v1"

// Engine starts and stops runs.
type Engine interface {
	// Chat starts a run. When connection ends first, the run is cancelled, unless the request is detached.
	Chat(connection context.Context, request run.Request) (run.Run, error)
	// Submit queues a background run.
	Submit(ctx context.Context, request run.Request) (run.Run, error)
	// Cancel ends a run and returns it as it then is. The same key with another digest is CodeKeyReused.
	Cancel(ctx context.Context, ref run.Ref, reason string, key run.Idempotency) (run.Run, error)
}

// Records reads runs and their events. The ledger is one.
type Records interface {
	web.RunLog
	Runs(ctx context.Context, filter run.Filter) (run.Page[run.Run], error)
}

// Desk answers approvals.
type Desk interface {
	Get(ctx context.Context, id string) (run.Approval, error)
	List(ctx context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error)
	Answer(ctx context.Context, answer run.Answer) (run.Approval, error)
}

// Inspector looks into the service.
type Inspector interface {
	// Ready makes sure that MCP servers are loaded and reports on everything the service leans on.
	Ready(ctx context.Context) ReadyReport
	// Tools returns the tools that a run without bounds may see.
	Tools(ctx context.Context) []run.Tool
	// Policy returns the policy in force.
	Policy() Policy
	// DryRun judges a call that is not made.
	DryRun(ctx context.Context, probe Probe) (run.Decision, error)
	// Stats counts what belongs to the runs that the filter selects, and all calls of plugins.
	Stats(ctx context.Context, of run.Filter) (Stats, error)
}

// Config is what the face is made of. Engine, Records, Desk and Inspector are required.
type Config struct {
	Engine    Engine
	Records   Records
	Desk      Desk
	Inspector Inspector

	Administration Administration // may be nil where the door has no administration token

	Version       string
	Model         string // the configured model's name
	DefaultStream bool   // what an absent "stream" means for chat
	AuthMode      web.AuthMode
	AuthRequired  bool            // a credential is asked for
	SelfApproval  bool            // users may answer their own approvals
	AgentReady    func() bool     // nil = always
	KeepAlive     time.Duration   // silence after which a stream says that it lives; 0 = 15 s
	Poll          time.Duration   // how often a tail looks without being told; 0 = 1 s
	Closing       <-chan struct{} // when closed, streams end without their end: the run goes on elsewhere; may be nil

	Prometheus bool // serve /metrics

	Profiles []Profile // bounds of kinds of run, whatever their tool_policy says

	// Skills lists what the operator wrote down for the model, by name. nil means none.
	Skills func() []run.Skill

	// ParseToolPolicy reads a request's tool_policy. Locations of faults are relative to it. nil refuses any.
	ParseToolPolicy func(raw any) (run.ToolPolicy, []web.FieldError)
}

type face struct{ cfg Config }

// New returns the face, to be put behind a door.
func New(cfg Config) web.Face {
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = 15 * time.Second
	}
	if cfg.Poll == 0 {
		cfg.Poll = time.Second
	}
	f := &face{cfg}
	return web.Face{Routes: f.routes(), Translate: translate}
}

func (f *face) routes() []web.Route {
	get, post := http.MethodGet, http.MethodPost
	routes := []web.Route{
		{Method: get, Path: "/", Handle: f.index},
		{Method: get, Path: "/health", Handle: f.health, Public: true},
		{Method: get, Path: "/ready", Handle: f.ready, Bare: true},
		{Method: get, Path: "/v1/models", Handle: f.models},
		{Method: get, Path: "/v1/tools", Handle: f.tools, Bare: true},
		{Method: get, Path: "/v1/skills", Handle: f.skills},
		{Method: post, Path: "/v1/chat/completions", Handle: f.chat},
		{Method: post, Path: "/v1/runs", Handle: f.submit},
		{Method: get, Path: "/v1/runs", Handle: f.listRuns},
		{Method: get, Path: "/v1/runs/{run_id}", Handle: f.getRun},
		{Method: get, Path: "/v1/runs/{run_id}/events", Handle: f.runEvents},
		{Method: get, Path: "/v1/runs/{run_id}/stream", Handle: f.streamRun, Stream: true},
		{Method: post, Path: "/v1/runs/{run_id}/cancel", Handle: f.cancelRun},
		{Method: get, Path: "/v1/traces", Handle: f.listTraces},
		{Method: get, Path: "/v1/traces/{run_id}", Handle: f.getTrace, Page: true},
		{Method: get, Path: "/v1/traces/{run_id}/events", Handle: f.traceEvents, Page: true},
		{Method: get, Path: "/v1/approvals", Handle: f.listApprovals, Page: true},
		{Method: get, Path: "/v1/approvals/{request_id}", Handle: f.getApproval},
		{Method: post, Path: "/v1/approvals/{request_id}/approve", Handle: f.approve, Page: true},
		{Method: post, Path: "/v1/approvals/{request_id}/deny", Handle: f.deny, Page: true},
		{Method: get, Path: "/v1/policy", Handle: f.policy},
		{Method: post, Path: "/v1/policy/check", Handle: f.checkPolicy},
		{Method: post, Path: "/v1/policy/reload", Handle: f.reloadPolicy, Admin: true},
		{Method: post, Path: "/v1/plugins/reload", Handle: f.reloadPlugins, Admin: true},
		{Method: get, Path: "/v1/audit/export", Handle: f.exportAudit, Admin: true},
		{Method: get, Path: "/v1/metrics", Handle: f.metrics},
	}
	if f.cfg.Prometheus {
		routes = append(routes, web.Route{Method: get, Path: "/metrics", Handle: f.prometheus})
	}
	return routes
}
