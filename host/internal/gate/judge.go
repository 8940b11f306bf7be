package gate

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// hearing is one call before its judges.
type hearing struct {
	clock    func() time.Time
	under    *ruling
	tool     run.Tool
	args     json.RawMessage
	identity sdk.Identity
	scope    *sdk.Scope
	decision run.Decision
}

// judged hears the rules and every judge. A call that is answered locally never leaves, so nobody is asked about it.
func (g *Gate) judged(ctx context.Context, v *Verdict) *refusal {
	if v.decision.Scope.Empty {
		reason := "Nothing that was asked for lies inside the run's scope"
		v.decision.Action, v.decision.Reason = sdk.Allow, reason
		v.decision.Chain = []run.ChainLink{{Source: "scope:" + v.under.Scoper.Name(), Action: sdk.Allow, Reason: reason}}
		return nil
	}
	h := &hearing{
		clock: g.cfg.Clock, under: v.under, tool: v.tool, args: v.args, identity: v.call.Identity,
		scope: scopeOf(v.tool, v.call.ToolPolicy), decision: v.decision,
	}
	h.hold(ctx)
	v.decision = h.decision
	if v.decision.Level() == run.Forbidden {
		return blocked(v.decision.Code, v.decision.Reason)
	}
	return nil
}

// hold hears everybody. Rules decide first; plugins may only tighten.
func (h *hearing) hold(ctx context.Context) {
	guard, failed := h.askGuard(ctx)
	static := h.under.Rules.Decide(policy.Subject{
		Tool: h.tool, UserKey: h.identity.UserKey, TenantKey: h.identity.TenantKey, Guard: guard,
	})
	static.Scope, static.Plugins, static.PolicyHash = h.decision.Scope, h.decision.Plugins, h.under.snapshot.Hash
	h.decision = static
	if failed != "" {
		h.tighten(policy.GuardSource, sdk.Opinion{Action: sdk.Deny, Reason: pluginFailed("exec-guard", failed)}, failed)
	}
	if h.tool.Asks {
		h.tighten("tool", sdk.Opinion{Action: sdk.RequireApproval, Reason: "The tool always needs approval"}, "")
	}
	known := sdk.Opinion{Action: h.decision.Action, Reason: h.decision.Reason, PatternMatched: h.decision.Pattern}
	for _, judge := range h.under.Judges {
		if judge.Wants(h.tool.Name, h.tool.RawName) {
			h.ask(ctx, judge, known)
		}
	}
}

// askGuard asks the exec guard, unless the service runs with its patterns switched off. failed is the code of a
// guard that could not answer, or is not there for an exec.
func (h *hearing) askGuard(ctx context.Context) (opinion *sdk.Opinion, failed run.DenialCode) {
	guard := h.under.ExecGuard
	switch {
	case h.under.Rules.AllowAll():
		return nil, ""
	case guard == nil:
		if h.tool.Name == "exec" || h.tool.RawName == "exec" {
			return nil, run.PluginUnavailable
		}
		return nil, ""
	case !guard.Wants(h.tool.Name, h.tool.RawName):
		return nil, ""
	}
	answer, failed := h.evaluate(ctx, guard, sdk.Opinion{})
	if failed != "" {
		return nil, failed
	}
	return &answer, ""
}

// ask hears one policy plugin.
func (h *hearing) ask(ctx context.Context, judge Judge, known sdk.Opinion) {
	answer, failed := h.evaluate(ctx, judge, known)
	if failed != "" {
		answer = sdk.Opinion{Action: sdk.Deny, Reason: pluginFailed(judge.Name(), failed)}
	}
	if judge.Shadow() {
		h.decision.Chain = append(h.decision.Chain, linkOf(voiceOf(judge)+judge.Name(), answer))
		return
	}
	if answer.Reason == "" {
		answer.Reason = "Plugin " + judge.Name() + " " + policy.Phrase(answer.Action)
	}
	h.tighten(voiceOf(judge)+judge.Name(), answer, failed)
}

// evaluate asks one plugin and distrusts its answer.
func (h *hearing) evaluate(ctx context.Context, judge Judge, known sdk.Opinion) (sdk.Opinion, run.DenialCode) {
	counted, gas := run.CountGas(ctx)
	answer, err := judge.Evaluate(counted, sdk.Question{
		Tool: h.tool.Name, Server: h.tool.Server, RawName: h.tool.RawName, Args: h.args,
		Identity: h.identity, Scope: h.scope, Now: h.clock().UTC(), Static: known,
	})
	h.decision.Plugins = append(h.decision.Plugins, useOf(judge, *gas))
	switch {
	case err != nil:
		return sdk.Opinion{}, codeOf(ctx, err, run.PluginUnavailable)
	case !answer.Action.Valid():
		return sdk.Opinion{}, run.PluginBadVerdict
	}
	answer.Reason, answer.PatternMatched = plainText(answer.Reason), plainText(answer.PatternMatched)
	return answer, ""
}

// useOf names a plugin that spoke.
func useOf(plugin interface {
	Name() string
	Digest() string
}, gas int64,
) run.PluginUse {
	return run.PluginUse{PluginDigest: run.PluginDigest{Name: plugin.Name(), Digest: plugin.Digest()}, Gas: gas}
}

// tighten adds an opinion to the chain; it counts where it is stricter than what was decided so far.
func (h *hearing) tighten(source string, opinion sdk.Opinion, code run.DenialCode) {
	d := &h.decision
	d.Chain = append(slices.Clip(d.Chain), linkOf(source, opinion))
	if sdk.Stricter(d.Action, opinion.Action) == d.Action {
		return
	}
	d.Action, d.Reason, d.Pattern, d.Code = opinion.Action, opinion.Reason, opinion.PatternMatched, code
	if d.Level() == run.Forbidden && code == "" {
		d.Code = run.DeniedByPolicy
	}
}

func linkOf(source string, opinion sdk.Opinion) run.ChainLink {
	return run.ChainLink{Source: source, Action: opinion.Action, Reason: opinion.Reason}
}

func pluginFailed(name string, code run.DenialCode) string {
	return "Policy plugin " + name + " failed: " + string(code)
}

// longestReason bounds what a plugin can make model and people read.
const longestReason = 500

// plainText makes a plugin's words one printable line.
func plainText(text string) string {
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?"))
	runes := []rune(strings.TrimSpace(printable))
	if len(runes) > longestReason {
		return string(runes[:longestReason-1]) + "…"
	}
	return string(runes)
}
