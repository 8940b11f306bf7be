//go:build !failpoints

package failpoint

// Hit says that the program is at a named step.
func Hit(string) {}

// Off reports whether a rule is left out.
func Off(string) bool { return false }
