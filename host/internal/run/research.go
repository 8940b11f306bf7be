package run

import (
	"encoding/json"
	"time"
)

// ResearchKind says what an entry of a workspace's research is.
type ResearchKind string

// The kinds of entries. A plan begins anew: what came before it is over.
const (
	ResearchPlan       ResearchKind = "plan"
	ResearchGrant      ResearchKind = "grant"      // a person's decision about a plan
	ResearchCampaign   ResearchKind = "campaign"   // work admitted under a grant
	ResearchResult     ResearchKind = "result"     // what one action of a campaign came to
	ResearchRevocation ResearchKind = "revocation" // the end of a grant
)

// Valid reports whether k is a kind at all.
func (k ResearchKind) Valid() bool {
	switch k {
	case ResearchPlan, ResearchGrant, ResearchCampaign, ResearchResult, ResearchRevocation:
		return true
	}
	return false
}

// ResearchEntry is one line in the book of a workspace's research. It never changes and is never removed.
type ResearchEntry struct {
	Sequence  int64 // given by the ledger, ascending
	Workspace string
	Kind      ResearchKind
	At        time.Time // UTC, microseconds
	Key       string    // idempotency key of whoever asked for it, used once in a workspace; empty: none
	Digest    string    // of what was asked under the key
	Body      json.RawMessage
}
