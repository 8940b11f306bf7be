package wasm

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/sdk"
)

// CallContext is what the host knows about a call and no guest can forge: a guest has no field for any of it.
type CallContext struct {
	Tenant  string // tenant_key of the run's owner; capabilities keep tenants apart by it
	RunID   string
	CallID  string
	TraceID string

	Workspace string              // host folder for the grant "workspace"; empty opens none
	Account   *capability.Account // what that folder may hold; nil bounds nothing
}

// visit is all that belongs to one call of a guest on the host's side. It is the only value that travels in the
// context, and ends with the call. One goroutine uses it.
type visit struct {
	call   CallContext
	plugin string // name, for logs and keys
	limits sdk.Limits
	log    *callLog
	emit   emitter

	settings map[string]string // what the operator's config says to the plugin
	extism   *extismVisit      // nil in other dialects
}

type visitKey struct{}

func withVisit(ctx context.Context, v *visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// visitOf returns the visit that a host function serves. There is none only when the host is wrong.
func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// over returns why the call must end, or nil.
func (v *visit) over(ctx context.Context) error { return context.Cause(ctx) }
