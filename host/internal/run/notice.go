package run

import "time"

// NoticeKind says what a notice tells.
type NoticeKind string

// The kinds of notice.
const (
	ApprovalRequested NoticeKind = "approval.requested" // a call waits for a person
	ApprovalSettled   NoticeKind = "approval.settled"   // it was answered, expired or cancelled
)

// Notice is one thing that somebody outside must be told. It is delivered at least once, always under the same ID.
type Notice struct {
	ID        string // the approval's id and the kind's last word: approval-…:requested
	Kind      NoticeKind
	Approval  Approval // as it is when the notice is read
	CreatedAt time.Time
	Attempts  int // tries that failed
}
