package run

import (
	"crypto/rand"
	"fmt"

	"github.com/oklog/ulid/v2"
)

// NewID returns prefix followed by a fresh ULID: unique, sortable by time, safe in URLs. It may be called from many
// goroutines.
func NewID(prefix string) string { return prefix + ulid.Make().String() }

// NewUUID returns a random UUID (version 4) in lower case, for protocols that ask for one. It may be called from many
// goroutines.
func NewUUID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: see crypto/rand
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
