package run

import (
	"regexp"
	"testing"
)

func TestUUIDsAreRandomOnesInLowerCase(t *testing.T) {
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewUUID()
		if !shape.MatchString(id) || seen[id] {
			t.Fatalf("%q is malformed, or came before", id)
		}
		seen[id] = true
	}
}
