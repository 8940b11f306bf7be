package gate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// scopeOf returns the scope that holds for a call: the run's, where the tool takes one.
func scopeOf(tool run.Tool, bound run.ToolPolicy) *sdk.Scope {
	if !tool.Scoped {
		return nil
	}
	return bound.Scope
}

// bind returns the final arguments: the scope plugin speaks first, the host's clamp has the last word.
func (g *Gate) bind(ctx context.Context, v *Verdict) (json.RawMessage, *refusal) {
	scope := scopeOf(v.tool, v.call.ToolPolicy)
	if scope == nil {
		args, err := policy.BindIdentity(v.tool.Schema, v.args, v.call.Identity)
		if err != nil {
			return nil, blocked(run.DeniedScope, "The call's identity could not be set")
		}
		return args, nil
	}
	injection, refused := g.inject(ctx, v, *scope)
	if refused != nil {
		return nil, refused
	}
	args, outcome, err := policy.Clamp(v.tool, v.args, injection.Args, *scope, v.call.Identity)
	switch {
	case errors.Is(err, policy.ErrTampered):
		return nil, v.under.scopeRefused(run.DeniedTampered, "The scope plugin changed arguments that are not about scope")
	case err != nil:
		return nil, v.under.scopeRefused(run.DeniedScope, "The call could not be bounded to the run's scope")
	}
	outcome.Empty = outcome.Empty || injection.Empty
	v.decision.Scope = outcome
	return args, nil
}

// inject asks the scope plugin.
func (g *Gate) inject(ctx context.Context, v *Verdict, scope sdk.Scope) (sdk.Injection, *refusal) {
	scoper := v.under.Scoper
	if scoper == nil {
		return sdk.Injection{}, blocked(run.PluginUnavailable, "The scope plugin is not there")
	}
	counted, gas := run.CountGas(ctx)
	injection, err := scoper.Inject(counted, sdk.InjectRequest{
		Tool: v.tool.Name, Args: v.args, Scope: scope, Schema: v.tool.Schema,
	})
	v.decision.Plugins = append(v.decision.Plugins, useOf(scoper, *gas))
	if err != nil {
		code := codeOf(ctx, err, run.DeniedScope)
		return sdk.Injection{}, v.under.scopeRefused(code, "The scope plugin failed: "+string(code))
	}
	return injection, nil
}

// scopeRefused is a refusal in the scope plugin's name.
func (r *ruling) scopeRefused(code run.DenialCode, reason string) *refusal {
	refused := blocked(code, reason)
	refused.source = "scope:" + r.Scoper.Name()
	return refused
}
