package host

import (
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// folders says on which folder a call of a Wasm tool works: the workspace of its caller, or for the tools of a plugin
// that is reserved for a profile one that the operator configured, which is only read. A call that asks for the one
// kind with a tool of the other is refused.
type folders struct {
	root       string             // holds the workspaces of callers
	quotas     *capability.Quotas // what each of those may hold
	configured map[string]string  // by id
}

// open returns where the call works. The caller calls release when it has ended; release is never nil.
func (f folders) open(r *resident, call sdk.Call) (calling wasm.CallContext, release func(), err error) {
	calling = wasm.CallContext{Tenant: call.Identity.TenantKey, RunID: call.RunID, CallID: call.CallID}
	switch {
	case r.profile == "" && call.Workspace == "":
		calling.Workspace, err = capability.Workspace(f.root, call.Identity.TenantKey, call.Identity.UserKey)
		if err == nil {
			calling.Account, release, err = f.quotas.Open(calling.Workspace)
		}
	case r.profile == "":
		err = errors.New("the tool does not work on configured folders")
	default:
		calling.Workspace, err = f.named(call.Workspace)
		calling.ReadOnly = true
	}
	if err != nil {
		return wasm.CallContext{}, func() {}, fmt.Errorf("open workspace: %w", err)
	}
	if release == nil {
		release = func() {}
	}
	return calling, release, nil
}

// named returns the folder of an id. There is none for a call that names none.
func (f folders) named(id string) (string, error) {
	folder, known := f.configured[id]
	if id == "" || !known || folder == "" {
		return "", fmt.Errorf("no folder is configured for %q", id)
	}
	return folder, nil
}
