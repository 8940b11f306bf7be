package research

import "time"

// State says whether a workspace has a plan.
type State string

// The two states.
const (
	Empty    State = "EMPTY"
	Prepared State = "PREPARED"
)

// Choice is what a person said about an action.
type Choice string

// The three choices. An action that nobody spoke about is deferred.
const (
	Authorize Choice = "AUTHORIZE"
	Defer     Choice = "DEFER"
	Refuse    Choice = "REFUSE"
)

// valid reports whether c is a choice at all.
func (c Choice) valid() bool { return c == Authorize || c == Defer || c == Refuse }

// ResultStatus is what came of an action. Empty: nothing yet.
type ResultStatus string

// The statuses of a result.
const (
	ResultNew         ResultStatus = "NEW"         // an answer that was not known
	ResultUnchanged   ResultStatus = "UNCHANGED"   // the answer that the same question had before
	ResultUnavailable ResultStatus = "UNAVAILABLE" // there is no provider: nothing was contacted
	ResultFailed      ResultStatus = "FAILED"      // no answer, or none that may be shown
	ResultUnknown     ResultStatus = "UNKNOWN"     // the process ended before the result was stored
)

// settled reports whether the status is one that can be stored. UNKNOWN is what is shown where nothing was.
func (s ResultStatus) settled() bool {
	switch s {
	case ResultNew, ResultUnchanged, ResultUnavailable, ResultFailed:
		return true
	}
	return false
}

// What a contact may be, and what it discloses.
const (
	ContactNone       = "NONE"           // there is no provider
	ContactPassive    = "PASSIVE_PUBLIC" // one request that changes nothing
	DiscloseNothing   = "NONE"
	DiscloseQuestions = "QUESTION_AND_SUBJECT" // the plan's question and the ids of its objects
)

// Snapshot is a workspace's research as it is now. The zero value with State Empty is one without a plan.
type Snapshot struct {
	State         State
	PlanID        string
	Fingerprint   string // digest of what the plan is about: equal plans have equal ones
	InputRevision int64  // of the graph that the plan was made from
	CreatedAt     time.Time
	Question      string
	Actions       []Action   // in the order of their waves
	Grants        []Grant    // newest first
	Campaigns     []Campaign // newest first
}

// Action is one step of a plan.
type Action struct {
	ActionID         string
	CapabilityID     string
	ProviderID       string // NoProvider when none is configured
	Subject          string // ids of the objects, separated by commas
	Contact          string
	Disclosure       string
	MaxRequests      int
	MaxResponseBytes int
	MaxActive        time.Duration
	Contacted        bool // a request left, or may have left
	ResultStatus     ResultStatus
	ResultExcerpt    string // printable text, ≤ 512 characters; it is somebody else's and to be trusted as little
	ResultDigest     string // of the whole answer; empty: none
	Decision         Choice
	Wave             int // 1 to 3
}

// Grant is a person's leave to carry actions out. It is live from CreatedAt until ExpiresAt or its revocation.
type Grant struct {
	GrantID   string
	ActionIDs []string
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt *time.Time
}

// Campaign is work that was admitted under a grant.
type Campaign struct {
	CampaignID string
	GrantID    string
	ActionIDs  []string
	AdmittedAt time.Time
	EndedAt    *time.Time // nil: under way, or its process ended
}
