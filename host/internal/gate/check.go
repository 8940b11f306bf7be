package gate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Check judges one call and runs nothing: visible? → arguments → scope plugin, then clamp → rules and heuristics →
// policy plugins → is there a person where one is needed? The same call and the same policy give the same verdict.
func (g *Gate) Check(ctx context.Context, call run.Call) Verdict {
	under := g.enter()
	defer g.leave(under)
	return g.checkUnder(ctx, under, call)
}

// checkUnder judges a call under a ruling that the caller has entered.
func (g *Gate) checkUnder(ctx context.Context, under *ruling, call run.Call) Verdict {
	v := Verdict{gate: g, under: under, call: call, spent: new(atomic.Bool)}
	v.decision = run.Decision{Action: sdk.Deny, PolicyScope: "builtin", PolicyHash: v.under.snapshot.Hash}
	for _, step := range []func(context.Context, *Verdict) *refusal{g.admitted, g.readable, g.scoped, g.judged, g.attended} {
		if v.refusal = step(ctx, &v); v.refusal != nil {
			v.refuse()
			return v
		}
	}
	return v
}

// refuse makes the decision say what the refusal says.
func (v *Verdict) refuse() {
	d := &v.decision
	if d.Action != sdk.Deny || d.Reason == "" {
		d.Action, d.Reason = sdk.Deny, v.refusal.reason
		d.Chain = append(slices.Clip(d.Chain), run.ChainLink{
			Source: cmp.Or(v.refusal.source, "gate"), Action: sdk.Deny, Reason: v.refusal.reason,
		})
	}
	d.Code = v.refusal.code
}

// admitted asks the run's tool policy and finds the tool.
func (g *Gate) admitted(ctx context.Context, v *Verdict) *refusal {
	found, exists := v.under.find(ctx, v.call.Tool)
	v.tool = found.tool
	found.tool.Name = v.call.Tool
	refused := admit(v.call.ToolPolicy, found.tool)
	if refused == nil {
		refused = afford(v.call)
	}
	if refused != nil {
		v.bindForShow()
		return refused
	}
	if !exists {
		return unknownTool(v.call.Tool)
	}
	return nil
}

// bindForShow bounds the arguments of a call that will not run, so that what a client is shown of it names nothing
// outside the run's scope either.
func (v *Verdict) bindForShow() {
	scope := scopeOf(v.tool, v.call.ToolPolicy)
	if scope == nil {
		return
	}
	args, issue := policy.ReadArguments(v.tool.Schema, v.call.Args)
	if issue != nil {
		return
	}
	if bounded, outcome, err := policy.Clamp(v.tool, args, args, *scope, v.call.Identity); err == nil {
		v.args, v.decision.Scope = bounded, outcome
	}
}

// readable makes sure that the arguments are one JSON object.
func (g *Gate) readable(_ context.Context, v *Verdict) *refusal {
	args, issue := policy.ReadArguments(v.tool.Schema, v.call.Args)
	if issue != nil {
		return invalidArguments(v.tool.Name, issue)
	}
	v.args = args
	return nil
}

// scoped binds identity and scope into the arguments, and then compares them with the tool's schema.
func (g *Gate) scoped(ctx context.Context, v *Verdict) *refusal {
	bound, refused := g.bind(ctx, v)
	if refused != nil {
		return refused
	}
	v.args = bound
	if v.decision.Scope.Empty {
		return nil
	}
	if issue := policy.CheckArguments(v.tool.Schema, v.args); issue != nil {
		return invalidArguments(v.tool.Name, issue)
	}
	return nil
}

// attended refuses a call that needs a person in a run that has none.
func (g *Gate) attended(_ context.Context, v *Verdict) *refusal {
	if !v.call.ToolPolicy.Unattended || v.decision.Action != sdk.RequireApproval {
		return nil
	}
	return blocked(run.DeniedUnattended, "The call needs approval, and nobody can be asked")
}

// codeOf returns the stable reason of a plugin's failure.
func codeOf(ctx context.Context, err error, otherwise run.DenialCode) run.DenialCode {
	var coded interface{ DenialCode() run.DenialCode }
	switch {
	case errors.As(err, &coded) && coded.DenialCode() != "":
		return coded.DenialCode()
	case ctx.Err() != nil:
		return run.DeniedCancelled
	}
	return otherwise
}
