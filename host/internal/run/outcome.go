package run

import (
	"encoding/json"
	"time"
)

// CallOutcome is what came of one call at the gate, ready to become a tool_result event.
type CallOutcome struct {
	Content   string          // whole text for event and model
	Whole     json.RawMessage // the source's answer where Content leaves something out; never for the model
	IsError   bool
	Unknown   bool       // it failed, and may have taken effect all the same
	Cut       bool       // its run was stopped under it, so nobody knows what came of it
	Denied    DenialCode // empty when the tool ran
	Unstored  error      // why the decision could not be recorded; the call did not leave
	Citations []string
	Duration  time.Duration
	Gas       int64 // what the tool's plugin and the scope filter used; 0 = none of them is metered
	Removed   int   // result entries that the scope filter took out
	Decision  Decision
	Approved  bool // a person approved it
	// Record is the line in the books about a call that left: it is to be committed together with the call's result. nil
	// when the call did not leave, or belongs to no run.
	Record *Audit
}
