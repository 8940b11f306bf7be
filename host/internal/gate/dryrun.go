package gate

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Probe is a call that nobody makes.
type Probe struct {
	Tool     string // a registered name; one that does not exist is judged by its name
	Args     json.RawMessage
	Identity sdk.Identity
}

// DryRun says what rules, heuristics and policy plugins would decide. It looks at no run, so tool policies and scopes
// play no part; nothing is run and nothing recorded.
func (g *Gate) DryRun(ctx context.Context, probe Probe) run.Decision {
	under := g.enter()
	defer g.leave(under)
	tool := run.Tool{Name: probe.Tool, RawName: probe.Tool}
	if found, exists := under.find(ctx, probe.Tool); exists {
		tool = found.tool
	}
	args := probe.Args
	if text := strings.TrimSpace(string(args)); text == "" || text == "null" {
		args = json.RawMessage("{}")
	}
	args, issue := policy.ReadArguments(nil, args)
	if issue != nil {
		return run.Decision{
			Action: sdk.Deny, Code: run.DeniedInvalidArgs, Reason: issue.Problem, PolicyScope: "builtin",
			Chain: []run.ChainLink{{Source: "gate", Action: sdk.Deny, Reason: issue.Problem}}, PolicyHash: under.snapshot.Hash,
		}
	}
	h := &hearing{clock: g.cfg.Clock, under: under, tool: tool, args: args, identity: probe.Identity}
	h.hold(ctx)
	return h.decision
}
