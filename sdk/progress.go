package sdk

import "context"

// Progress is a sign of life from a call that is under way. It is shown to people and never to the model.
type Progress struct {
	Text  string   `json:"text,omitempty"`  // what is new since the last report: a part of the output, or a sentence
	Done  *float64 `json:"done,omitempty"`  // how far the call is, in the tool's own unit; nil = unknown
	Total *float64 `json:"total,omitempty"` // where it ends; nil = unknown
}

type progressKey struct{}

// WithProgress returns a context under which a call's reports reach listen. The host bounds what a call may report
// and listens for its time only: a report that comes late or beyond the bound is dropped. listen may be called from
// many goroutines and must not block.
func WithProgress(ctx context.Context, listen func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, listen)
}

// ReportProgress tells whoever listens to the call behind ctx. Without a listener it does nothing.
func ReportProgress(ctx context.Context, p Progress) {
	if listen, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		listen(p)
	}
}

// Heard reports whether anybody listens to the call behind ctx.
func Heard(ctx context.Context) bool {
	_, heard := ctx.Value(progressKey{}).(func(Progress))
	return heard
}
