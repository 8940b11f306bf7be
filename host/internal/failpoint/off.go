//go:build !failpoints

package failpoint

import "time"

// Hit says that the program is at one side of a step.
func Hit(_, _ string) {}

// Off reports whether a rule is left out.
func Off(string) bool { return false }

// Wrote says that events of a run, from a sequence on, were committed by its claim of an epoch.
func Wrote(string, int64, int64) {}

// Now is the time on this machine's clock.
func Now() time.Time { return time.Now() }
