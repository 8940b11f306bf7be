package run

import (
	"encoding/json"
	"time"
)

// AuditStage says which half of a call's story a record tells.
type AuditStage string

// The two stages. A decision is committed before the call leaves; an outcome when it came back.
const (
	Decided AuditStage = "decision"
	Ended   AuditStage = "outcome"
)

// Audit is one line in the books. It holds digests and decisions, never arguments or results.
type Audit struct {
	Sequence     int64 // given by the ledger
	At           time.Time
	Stage        AuditStage
	Run          Ref
	CallID       string
	UserKey      string
	Tool         string
	ToolDigest   string
	ArgsDigest   string
	Decision     json.RawMessage // a Decision, on the decision record
	ApprovalID   string
	Dispatched   bool          // decision: the call leaves next
	IsError      bool          // outcome
	ResultDigest string        // outcome
	Duration     time.Duration // outcome
	Gas          int64         // outcome: what the tool's plugin and the scope filter used
}
