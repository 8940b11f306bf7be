package run

import "time"

// Deadline is when a pending approval expires.
type Deadline struct {
	ApprovalID string
	At         time.Time
}
