package sqlite

import "time"

// steady returns a clock that starts at a wall time and goes on monotonically.
func steady(start time.Time) func() time.Time {
	return func() time.Time { return start.Add(time.Since(start)) }
}
