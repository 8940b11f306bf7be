package run

import "time"

// Rating is what a reader thought of an answer.
type Rating string

// The two ratings.
const (
	Up   Rating = "up"
	Down Rating = "down"
)

// Valid reports whether r is a rating at all.
func (r Rating) Valid() bool { return r == Up || r == Down }

// Feedback is what a reader said about a run.
type Feedback struct {
	Ref
	SessionID string // of the run
	Rating    Rating
	Comment   string
	At        time.Time // UTC, microseconds
}
