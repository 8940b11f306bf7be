package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// answerLocally answers a call of which nothing lies inside the scope. It is never sent: an empty list of sources
// reads as "no filter" on the other side.
func (g *Gate) answerLocally(ctx context.Context, v Verdict) run.CallOutcome {
	if err := g.recordDecision(ctx, v, nil, false); err != nil {
		g.cfg.Log.Error("local answer not recorded", slog.String("tool", v.tool.Name), slog.Any("error", err))
	}
	text := mustJSON(map[string]any{
		"type": "tool_scope_empty", "results": []any{}, "citations": []any{}, "scope": v.call.ToolPolicy.Scope,
	})
	return run.CallOutcome{Content: text, Citations: []string{}, Decision: v.decision}
}

// read turns a tool's result into an outcome, inside the run's scope.
func (g *Gate) read(ctx context.Context, v Verdict, result sdk.Result, outcome *run.CallOutcome) {
	content, citations := result.Content, result.Citations
	if content == "" && len(result.Structured) > 0 {
		content = string(result.Structured)
	}
	outcome.IsError = result.IsError
	if scope := scopeOf(v.tool, v.call.ToolPolicy); policy.Filters(scope) {
		filtered, removed, code := v.under.filter(ctx, v.tool, content, *scope)
		if code != "" {
			outcome.Content, outcome.IsError = withheld(code), true
			return
		}
		content, outcome.Removed = filtered, removed
		citations = policy.FilterCitations(citations, *scope)
	}
	outcome.Content = content
	if !policy.Filters(scopeOf(v.tool, v.call.ToolPolicy)) && run.Shallow(result.Whole) && json.Valid(result.Whole) {
		outcome.Whole = result.Whole // under a hard scope nobody has looked through it
	}
	if citations == nil {
		citations = citationsIn(content)
	}
	outcome.Citations = citations
}

// unverifiable is the type, and unless a plugin failed the reason, of a result that is withheld.
const unverifiable = "tool_scope_unverifiable_result"

// withheld is what model and client read instead of a result that might lie outside the scope.
func withheld(code run.DenialCode) string {
	return mustJSON(map[string]any{
		"type": unverifiable, "error_code": code, "results": []any{}, "citations": []any{},
	})
}

// filter takes entries outside a hard scope out of a result: first the scope plugin, then the host again. code is set
// when nobody can tell what the result speaks of; it must then be withheld.
func (r *ruling) filter(ctx context.Context, tool run.Tool, content string, scope sdk.Scope) (string, int, run.DenialCode) {
	if strings.TrimSpace(content) == "" {
		return content, 0, ""
	}
	given := json.RawMessage(content)
	if !policy.Verifiable(given) {
		if tool.TrustedText {
			return content, 0, ""
		}
		return "", 0, unverifiable
	}
	answer, err := r.Scoper.Filter(ctx, sdk.FilterRequest{Result: given, Scope: scope})
	switch {
	case err != nil:
		return "", 0, codeOf(ctx, err, run.DeniedScope)
	case answer.Removed < 0:
		return "", 0, run.PluginBadAnswer
	case answer.Removed > 0:
		given = answer.Result
	}
	filtered, removed, err := policy.FilterResult(given, scope, answer.Removed)
	if errors.Is(err, policy.ErrUnverifiable) {
		return "", 0, run.PluginBadAnswer
	}
	if err != nil {
		return "", 0, run.DeniedScope
	}
	if bytes.Equal(filtered, given) && removed == 0 {
		return content, 0, ""
	}
	return string(filtered), removed, ""
}
