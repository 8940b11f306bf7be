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

// CountGas returns a context whose calls of plugins are added up in the sum that comes with it. Read it when they have
// ended.
func CountGas(ctx context.Context) (context.Context, *int64) {
	sum := new(int64)
	return WithGasListener(ctx, func(use GasUse) { *sum += use.Gas }), sum
}

// ReportGas tells the listener of ctx, if there is one, what a call of a plugin cost.
func ReportGas(ctx context.Context, use GasUse) {
	if hear, there := ctx.Value(gasListener{}).(func(GasUse)); there {
		hear(use)
	}
}
