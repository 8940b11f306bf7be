package gate

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/sdk"
)

// quiet lets only the numbers of a call's progress through where its result is filtered: words that come bit by bit
// cannot be looked through, and would show what the result may not.
func quiet(ctx context.Context, v Verdict) context.Context {
	if !sdk.Heard(ctx) || v.tool.TrustedText || !policy.Filters(scopeOf(v.tool, v.call.ToolPolicy)) {
		return ctx
	}
	return sdk.WithProgress(ctx, func(p sdk.Progress) {
		p.Text = ""
		sdk.ReportProgress(ctx, p)
	})
}
