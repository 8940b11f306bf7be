package wasm

import (
	"context"
	"io"

	"github.com/fastreact/fastreact/host/internal/capability"
)

// CallContext is what the host knows about a call and no guest can forge: a guest has no field for any of it.
type CallContext struct {
	Tenant  string // tenant_key of the run's owner; capabilities keep tenants apart by it
	RunID   string
	CallID  string
	TraceID string

	Workspace string              // host folder for the grant "workspace"; empty opens none
	Account   *capability.Account // what that folder may hold; nil bounds nothing
	ReadOnly  bool                // that folder is only read, whatever was granted

	Output io.Writer // hears all that the guest writes, for who tries a plugin out; nil for nobody. No service sets it.
	Spent  *Spent    // is filled when the call ends; nil asks for nothing
}

// Spent is what a call cost.
type Spent struct {
	Gas       int64 // the same for the same input of a pure plugin
	HostCalls int
}

// visit is all that belongs to one call of a guest on the host's side. It is the only value that travels in the
// context, and ends with the call. One goroutine uses it.
type visit struct {
	call   CallContext
	plugin string // name, for logs and keys
	meter  taximeter
	log    callLog
	emit   emitter
	using  *using // nil for a pure plugin

	settings map[string]string // what the operator's config says to the plugin
	extism   *extismVisit      // nil in other dialects
	budget   *memoryBudget     // of the host, for what is kept outside of the guest

	opened  int  // files that the guest opened and did not close
	giving  bool // the guest was asked for room, by the host that serves it
	touched bool // something changed that restoring memory and globals does not undo
	broken  bool // the guest ended abnormally
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
