package gate

import (
	"encoding/json"
	"sync/atomic"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Verdict is the gate's word on one call, and the only thing that Do takes. Only a gate can make one that lets a call
// pass: the zero value denies. It is good for one Do of the gate that gave it.
type Verdict struct {
	gate     *Gate
	under    *ruling // the rules that were in force
	call     run.Call
	tool     run.Tool
	args     json.RawMessage
	decision run.Decision
	refusal  *refusal // nil when the call may run, given an approval where one is needed
	spent    *atomic.Bool
}

// Call is the call that was judged.
func (v Verdict) Call() run.Call { return v.call }

// Keyed returns the verdict with a key for its call. The key says which try of which call it is and plays no part in what
// was judged.
func (v Verdict) Keyed(key string) Verdict {
	v.call.Key = key
	return v
}

// Tool is the tool that would run. It is the zero value when there is none by that name.
func (v Verdict) Tool() run.Tool { return v.tool }

// Args are the final arguments, canonical, after scope injection: what is shown is what runs. They are nil when the
// arguments never got that far: the call was refused before, or they are no JSON object.
func (v Verdict) Args() json.RawMessage { return v.args }

// Decision is the decision with every opinion that was heard. It must not be changed.
func (v Verdict) Decision() run.Decision { return v.decision }

// Denied reports whether the call will not run, whatever a person says.
func (v Verdict) Denied() bool { return v.gate == nil || v.refusal != nil }

// NeedsApproval reports whether the call runs only when a person says so.
func (v Verdict) NeedsApproval() bool {
	return !v.Denied() && v.decision.Action == sdk.RequireApproval
}

// ArgsDigest is the digest of Args, as an approval of this call carries it; empty without arguments.
func (v Verdict) ArgsDigest() string {
	if v.args == nil {
		return ""
	}
	return run.Digest(v.args)
}
