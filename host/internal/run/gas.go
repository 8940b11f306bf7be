package run

import "context"

// GasUse is what one call of a plugin cost.
type GasUse struct {
	Plugin string // name
	Digest string // of its code, "sha256:<hex>"
	Gas    int64
}

type gasListener struct{}

// WithGasListener returns a context whose calls of plugins are reported to hear. It is called on the goroutine of the
// call, when that has ended, however it ended.
func WithGasListener(ctx context.Context, hear func(GasUse)) context.Context {
	return context.WithValue(ctx, gasListener{}, hear)
}

// ReportGas tells the listener of ctx, if there is one, what a call of a plugin cost.
func ReportGas(ctx context.Context, use GasUse) {
	if hear, there := ctx.Value(gasListener{}).(func(GasUse)); there {
		hear(use)
	}
}
