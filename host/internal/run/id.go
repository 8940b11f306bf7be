package run

import "github.com/oklog/ulid/v2"

// NewID returns prefix followed by a fresh ULID: unique, sortable by time, safe in URLs. It may be called from many
// goroutines.
func NewID(prefix string) string { return prefix + ulid.Make().String() }
