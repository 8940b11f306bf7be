package research

import (
	"encoding/json"
	"time"
)

// planBody is what a plan's entry holds.
type planBody struct {
	PlanID        string       `json:"plan_id"`
	Fingerprint   string       `json:"fingerprint"`
	InputRevision int64        `json:"input_revision"`
	Selection     []string     `json:"selection"`
	Question      string       `json:"question"`
	Exclusions    []string     `json:"exclusions"`
	Actions       []actionBody `json:"actions"`
	Known         []knownBody  `json:"known"` // what was answered under earlier plans, newest last
}

// actionBody is an action as it was planned. It never changes.
type actionBody struct {
	ActionID         string `json:"action_id"`
	CapabilityID     string `json:"capability_id"`
	ProviderID       string `json:"provider_id"`
	Subject          string `json:"subject"`
	Contact          string `json:"contact"`
	Disclosure       string `json:"disclosure"`
	MaxRequests      int    `json:"max_requests"`
	MaxResponseBytes int    `json:"max_response_bytes"`
	MaxActiveMS      int64  `json:"max_active_ms"`
	Wave             int    `json:"wave"`
}

// knownBody says what a provider answered last to a question.
type knownBody struct {
	Asked  string `json:"asked"`  // digest of provider, capability, subject and question
	Answer string `json:"answer"` // digest of the answer
}

// grantBody is a person's decision. Without a GrantID nothing was granted: only choices were made.
type grantBody struct {
	PlanID    string        `json:"plan_id"`
	GrantID   string        `json:"grant_id"`
	ExpiresAt time.Time     `json:"expires_at"`
	Choices   []choiceBody  `json:"choices"`
	Covers    []coveredBody `json:"covers"`
}

type choiceBody struct {
	ActionID string `json:"action_id"`
	Choice   Choice `json:"choice"`
}

// coveredBody binds a grant to the call that will be made of an action. The digests are those of the moment in which
// the person decided; both are empty when nothing will be contacted.
type coveredBody struct {
	ActionID   string `json:"action_id"`
	ArgsDigest string `json:"args_digest"`
	ToolDigest string `json:"tool_digest"`
}

// campaignBody is work that was admitted. It is stored before anything leaves.
type campaignBody struct {
	PlanID     string       `json:"plan_id"`
	CampaignID string       `json:"campaign_id"`
	GrantID    string       `json:"grant_id"`
	Calls      []callOfBody `json:"calls"`
}

// callOfBody fixes the id of the one call that an action may make.
type callOfBody struct {
	ActionID string `json:"action_id"`
	CallID   string `json:"call_id"`
}

// resultBody is what came of an action.
type resultBody struct {
	PlanID     string       `json:"plan_id"`
	CampaignID string       `json:"campaign_id"`
	ActionID   string       `json:"action_id"`
	Status     ResultStatus `json:"status"`
	Contacted  bool         `json:"contacted"`
	Digest     string       `json:"digest"`
	Excerpt    string       `json:"excerpt"`
	Reason     string       `json:"reason"` // a code for the books; empty: it was answered
}

// revocationBody ends a grant.
type revocationBody struct {
	PlanID  string `json:"plan_id"`
	GrantID string `json:"grant_id"`
}

// read decodes an entry's body.
func read[T any](raw json.RawMessage) (T, error) {
	var body T
	if err := json.Unmarshal(raw, &body); err != nil {
		return body, damaged(err.Error())
	}
	return body, nil
}
