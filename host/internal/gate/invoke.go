package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/failpoint"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// errToolTimeout is the cause of a call that took too long.
var errToolTimeout = errors.New("tool timeout")

// invoke runs the tool. This is the only place in the house that does. A failure that comes when the run was stopped may
// be of the stop rather than of the tool; whatever else comes then is what the tool did.
func (g *Gate) invoke(ctx context.Context, v Verdict, source Source) run.CallOutcome {
	ctx, gas := run.CountGas(ctx)
	timed, stop := context.WithTimeoutCause(quiet(ctx, v), g.patience(v.call), errToolTimeout)
	defer stop()
	failpoint.Hit("tool", "before")
	started := time.Now()
	result, err := source.Invoke(timed, v.tool, sdk.Call{
		Tool: cmp.Or(v.tool.RawName, v.tool.Name), Args: v.args, Identity: v.call.Identity,
		Scope: scopeOf(v.tool, v.call.ToolPolicy), RunID: v.call.Fence.ID, CallID: v.call.ID,
		Workspace: v.call.Workspace, IdempotencyKey: v.call.Key,
	})
	took := time.Since(started)
	cut := ctx.Err() != nil && (err != nil || result.IsError)
	failpoint.Hit("tool", "after")
	outcome := run.CallOutcome{Citations: []string{}, Decision: v.decision, Cut: cut}
	if err != nil {
		g.cfg.Log.Warn("tool source failed", slog.String("tool", v.tool.Name), slog.String("kind", fmt.Sprintf("%T", err)))
		var unsure interface{ OutcomeUnknown() bool }
		outcome.Content, outcome.IsError = failureText(timed, v.tool, err), true
		outcome.Unknown = errors.As(err, &unsure) && unsure.OutcomeUnknown()
	} else {
		reading, stop := context.WithTimeout(context.WithoutCancel(ctx), outcomeTimeout)
		defer stop()
		g.read(reading, v, result, &outcome)
	}
	outcome.Duration, outcome.Gas = took, *gas
	return outcome
}

// patience is how long a call may take.
func (g *Gate) patience(call run.Call) time.Duration {
	if call.Timeout > 0 {
		return min(call.Timeout, g.cfg.ToolTimeout)
	}
	return g.cfg.ToolTimeout
}

// failureText is what model and client read when a source failed. What the source said itself stays private, unless
// it offers a sentence that is meant to be shown.
func failureText(ctx context.Context, tool run.Tool, err error) string {
	prefix := "[ERROR] "
	if tool.Source == run.FromMCP {
		prefix = "[MCP_ERROR] "
	}
	return prefix + failureSentence(ctx, tool, err)
}

func failureSentence(ctx context.Context, tool run.Tool, err error) string {
	var public *run.Error
	var speaks interface{ SafeSentence() string }
	var coded interface{ DenialCode() run.DenialCode }
	switch {
	case errors.Is(context.Cause(ctx), errToolTimeout):
		return fmt.Sprintf("Tool '%s' did not answer in time", tool.Name)
	case ctx.Err() != nil:
		return fmt.Sprintf("Tool '%s' was stopped because the run ended", tool.Name)
	case errors.As(err, &public) && public.Sentence != "":
		return plainText(public.Sentence)
	case errors.As(err, &speaks):
		return plainText(speaks.SafeSentence())
	case errors.As(err, &coded):
		return fmt.Sprintf("Tool '%s' failed: %s", tool.Name, coded.DenialCode())
	case tool.Server != "":
		return fmt.Sprintf("Server '%s' could not run tool '%s'", tool.Server, tool.RawName)
	}
	return fmt.Sprintf("Tool '%s' could not be run", tool.Name)
}
