package run

import (
	"encoding/json"
	"time"
)

// ApprovalStatus is an approval's place in its life. Clients "treat unknown approval statuses as non-approved".
type ApprovalStatus string

// The statuses of an approval. All but Pending are final.
const (
	Pending           ApprovalStatus = "pending"
	Approved          ApprovalStatus = "approved"
	Denied            ApprovalStatus = "denied"
	Expired           ApprovalStatus = "expired"
	ApprovalCancelled ApprovalStatus = "cancelled"
)

// Settled reports whether the status is final.
func (s ApprovalStatus) Settled() bool { return s != Pending }

// Valid reports whether s is a status at all.
func (s ApprovalStatus) Valid() bool {
	switch s {
	case Pending, Approved, Denied, Expired, ApprovalCancelled:
		return true
	}
	return false
}

// ApprovalKind says what a person is asked.
type ApprovalKind string

// The two questions.
const (
	Permission     ApprovalKind = ""                // may this call run?
	UnknownOutcome ApprovalKind = "outcome_unknown" // it left, and nobody knows whether it took effect: what now?
)

// Choice is what a person says about a call whose outcome is unknown.
type Choice string

// The three choices. Retry and TreatAsDone go with Approved, Abort with Denied.
const (
	Retry       Choice = "retry"         // run it again, as far as policy allows today
	TreatAsDone Choice = "treat_as_done" // it took effect: go on
	Abort       Choice = "abort"         // end the run
)

// Choices lists them, as they are offered.
func Choices() []Choice { return []Choice{Retry, TreatAsDone, Abort} }

// Approval is one call that waits for a person. Args are the final arguments: what is shown is what runs.
type Approval struct {
	ID         string // approval-<ulid>
	Kind       ApprovalKind
	Run        Ref
	SessionID  string
	UserKey    string
	ToolCallID string
	ToolName   string
	Args       json.RawMessage // after scope injection
	ArgsDigest string          // of the canonical JSON of Args
	ToolDigest string          // of the tool's definition and endpoint when it was asked
	Reason     string
	Decision   Decision // what policy said when it was asked
	Status     ApprovalStatus
	Timeout    time.Duration
	CreatedAt  time.Time
	ExpiresAt  time.Time
	ResolvedAt *time.Time
	ResolvedBy string
	Resolution string // resolution_reason
	Choice     Choice // of a settled UnknownOutcome; empty when nobody chose
}

// Resolution settles an approval.
type Resolution struct {
	ID     string
	Status ApprovalStatus // any settled status
	By     string         // who answered; empty for time and cancel
	Reason string
	Choice Choice // only for an UnknownOutcome

	Idempotency Idempotency // of the request that answered; zero: none. Kept with the change, for the run's tenant
}

// ApprovalFilter selects approvals. Zero fields select all.
type ApprovalFilter struct {
	Tenant    *TenantKey
	Run       *Ref
	RunID     string
	ID        string
	SessionID string
	UserKey   string
	ToolName  string
	Status    ApprovalStatus
	Oldest    bool // oldest first instead of newest first
	Limit     int
	Offset    int
}
