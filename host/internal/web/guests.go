package web

import (
	"net/http"
	"slices"
)

// Guests says which users and tenants are served. The zero value serves everybody. Every list that is not empty counts:
// a user passes when none of them stands against it.
type Guests struct {
	AllowUsers   []string // by user key; not empty = nobody else
	BlockUsers   []string
	AllowTenants []string // by tenant key; not empty = nobody else
	BlockTenants []string
}

// admit refuses a user that a list stands against.
func (g Guests) admit(user, tenant string) *Refusal {
	blocked := slices.Contains(g.BlockUsers, user) || slices.Contains(g.BlockTenants, tenant)
	if blocked || !listed(g.AllowUsers, user) || !listed(g.AllowTenants, tenant) {
		return &Refusal{
			Status: http.StatusForbidden, Code: "user_blocked", Sentence: "This user is not served here.",
		}
	}
	return nil
}

func listed(allowed []string, key string) bool {
	return len(allowed) == 0 || slices.Contains(allowed, key)
}
