package agenttools

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
)

// Gateway makes an agent's tool calls, and keeps what came of them for as long as the instance and its workspace last.
type Gateway interface {
	Tools
	Workspaces
}

// Tools is the gateway for one workspace at a time.
type Tools interface {
	Catalog(ctx context.Context) gateway.Catalog
	Start(ctx context.Context, objective string) (gateway.Turn, error)
	Call(ctx context.Context, request gateway.Request) (gateway.Reply, error)
	Resume(ctx context.Context, turnID string) (gateway.Turn, error)
	Result(id string) (gateway.Result, error)
}

// Workspaces says which one that is.
type Workspaces interface {
	Events(cursor int64) gateway.Page
	Active() string // empty: none
	Workspaces() []string
	Activate(id string) error
}

// Research is the desk where people decide. Everything asked of it here was asked by the holder of the session.
type Research interface {
	Snapshot(ctx context.Context, workspace string) (research.Snapshot, error)
	Prepare(ctx context.Context, workspace string, asked research.Preparation) (research.Snapshot, error)
	Grant(ctx context.Context, workspace string, decided research.Decision) (research.Snapshot, error)
	Campaign(ctx context.Context, workspace string, wanted research.Launch) (research.Snapshot, error)
	Revoke(ctx context.Context, workspace, grantID string) (research.Snapshot, error)
}

// Runtime drives the turns of a model on this machine.
type Runtime interface {
	RuntimeTurns
	Status(ctx context.Context) localagent.Status
	Events(cursor int64) localagent.Page
}

// RuntimeTurns are its turns. One that is over comes back from Cancel as it is.
type RuntimeTurns interface {
	Start(ctx context.Context, objective, key string) (localagent.Turn, error)
	Turn(id string) (localagent.Turn, error)
	Resume(ctx context.Context, id string) (localagent.Turn, error)
	Cancel(id string) (localagent.Turn, error)
}
