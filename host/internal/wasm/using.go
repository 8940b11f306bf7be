package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// using is what one call uses beyond memory and files. It knows whose call it is from the host alone. One goroutine
// uses it.
type using struct {
	session *egress.Session
	policy  egress.Policy
	pairs   Pairs
	drawer  run.Drawer
	limit   int64 // bytes of the drawer
	log     *slog.Logger
}

// newUsing begins a call. close must follow.
func (p *Plugin) newUsing(cc CallContext) *using {
	return &using{
		session: p.host.config.World.Egress.Session(p.egress), policy: p.egress,
		pairs: p.host.config.World.Pairs, limit: p.reach.kv,
		drawer: run.Drawer{Plugin: p.name, Tenant: run.TenantKey(cc.Tenant)},
		log:    p.log.With(slog.String("plugin", p.name), slog.String("run", cc.RunID)),
	}
}

// close drops the connections of the call.
func (u *using) close() {
	if u != nil {
		u.session.Close()
	}
}

// send makes one request for the guest, of whatever dialect. It ends with ctx, which is the call's. Every error is a
// *egress.Refusal.
func (u *using) send(ctx context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
	response, err := u.session.Send(ctx, request)
	var refused *egress.Refusal
	if errors.As(err, &refused) {
		u.log.Info("request of a plugin was refused", slog.String("code", string(refused.Code)), slog.Any("cause", refused.Err))
	}
	return response, err
}

// capabilityError is how a guest is told that something was refused.
type capabilityError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type capabilityFailure struct {
	Error capabilityError `json:"error"`
}

func refused(code, message string) capabilityFailure {
	return capabilityFailure{capabilityError{code, message}}
}

// asked serves an import that takes one JSON object and answers with another one, placed where fastreact_alloc says.
// The result is 0 when the guest gave no room for the answer. A guest that asks while it is asked for room would nest
// the host's stack as deeply as it likes: that ends it.
func asked(answer func(ctx context.Context, u *using, raw []byte) any) api.GoModuleFunc {
	return func(ctx context.Context, guest api.Module, stack []uint64) {
		raw, ok := guest.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		stack[0] = 0
		v := visitOf(ctx)
		if !ok || v == nil || v.using == nil {
			return
		}
		if v.giving {
			panic(fail(run.PluginTrapped, "%s asked the host for something", exportAlloc))
		}
		text, err := encodeAnswer(answer(ctx, v.using, raw))
		if err != nil {
			return
		}
		v.giving = true
		stack[0] = give(ctx, guest, text)
		v.giving = false
	}
}

func encodeAnswer(answer any) ([]byte, error) { return json.Marshal(answer) }

// give places bytes in a guest's memory and returns where, packed. A guest that ends while it is asked for room ends its
// call.
func give(ctx context.Context, guest api.Module, text []byte) uint64 {
	alloc := guest.ExportedFunction(exportAlloc)
	if alloc == nil {
		return 0
	}
	results, err := alloc.Call(ctx, uint64(len(text)))
	if err != nil {
		panic(err) // the sandbox takes it through the guest to whoever called it
	}
	ptr := uint32(results[0])
	if ptr == 0 || !guest.Memory().Write(ptr, text) {
		return 0
	}
	return uint64(ptr)<<32 | uint64(len(text))
}

// egressLimits returns the limits of a call in the broker's words.
func egressLimits(limits sdk.Limits) egress.Limits {
	return egress.Limits{Requests: limits.HTTPRequests, Bytes: int64(limits.HTTPBytes), Redirects: limits.HTTPRedirects}
}
