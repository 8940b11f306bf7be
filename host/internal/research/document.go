package research

import (
	"encoding/json"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// contract names the document of a snapshot.
const contract = "labfy.research.snapshot.v1"

// document is a snapshot as every reader gets it, an agent as well as a person.
type document struct {
	Contract        string             `json:"contract"`
	State           State              `json:"state"`
	PlanID          *string            `json:"plan_id"`
	PlanFingerprint *string            `json:"plan_fingerprint"`
	InputRevision   *int64             `json:"input_revision"`
	CreatedAt       *string            `json:"created_at"`
	Question        *string            `json:"question"`
	Actions         []actionDocument   `json:"actions"`
	Grants          []grantDocument    `json:"grants"`
	Campaigns       []campaignDocument `json:"campaigns"`
}

type actionDocument struct {
	ActionID         string        `json:"action_id"`
	CapabilityID     string        `json:"capability_id"`
	ProviderID       string        `json:"provider_id"`
	Subject          string        `json:"subject"`
	Contact          string        `json:"contact"`
	Disclosure       string        `json:"disclosure"`
	MaxRequests      int           `json:"max_requests"`
	MaxResponseBytes int           `json:"max_response_bytes"`
	MaxActiveMS      int64         `json:"max_active_ms"`
	Contacted        bool          `json:"contacted"`
	ResultStatus     *ResultStatus `json:"result_status"`
	ResultExcerpt    *string       `json:"result_excerpt"`
	ResultDigest     *string       `json:"result_digest"`
	Decision         Choice        `json:"decision"`
	Wave             int           `json:"wave"`
}

type grantDocument struct {
	GrantID   string   `json:"grant_id"`
	ActionIDs []string `json:"action_ids"`
	CreatedAt string   `json:"created_at"`
	ExpiresAt string   `json:"expires_at"`
	RevokedAt *string  `json:"revoked_at"`
}

type campaignDocument struct {
	CampaignID string   `json:"campaign_id"`
	GrantID    string   `json:"grant_id"`
	ActionIDs  []string `json:"action_ids"`
	AdmittedAt string   `json:"admitted_at"`
	EndedAt    *string  `json:"ended_at"`
}

// Encode returns the contract's document of a snapshot: one compact JSON object, the same bytes for the same snapshot.
func Encode(s Snapshot) (json.RawMessage, error) {
	d := document{
		Contract: contract, State: s.State, Actions: []actionDocument{}, Grants: []grantDocument{}, Campaigns: []campaignDocument{},
	}
	if s.State == Prepared {
		created := run.Stamp(s.CreatedAt)
		d.PlanID, d.PlanFingerprint, d.InputRevision = &s.PlanID, &s.Fingerprint, &s.InputRevision
		d.CreatedAt, d.Question = &created, &s.Question
	}
	for _, a := range s.Actions {
		d.Actions = append(d.Actions, a.document())
	}
	for _, g := range s.Grants {
		d.Grants = append(d.Grants, grantDocument{g.GrantID, list(g.ActionIDs), run.Stamp(g.CreatedAt), run.Stamp(g.ExpiresAt), maybeStamp(g.RevokedAt)})
	}
	for _, c := range s.Campaigns {
		d.Campaigns = append(d.Campaigns, campaignDocument{c.CampaignID, c.GrantID, list(c.ActionIDs), run.Stamp(c.AdmittedAt), maybeStamp(c.EndedAt)})
	}
	return run.Encode(d)
}

func (a Action) document() actionDocument {
	d := actionDocument{
		ActionID: a.ActionID, CapabilityID: a.CapabilityID, ProviderID: a.ProviderID, Subject: a.Subject, Contact: a.Contact,
		Disclosure: a.Disclosure, MaxRequests: a.MaxRequests, MaxResponseBytes: a.MaxResponseBytes,
		MaxActiveMS: a.MaxActive.Milliseconds(), Contacted: a.Contacted, Decision: a.Decision, Wave: a.Wave,
	}
	if a.ResultStatus != "" {
		d.ResultStatus = &a.ResultStatus
	}
	if a.ResultDigest != "" {
		d.ResultExcerpt, d.ResultDigest = &a.ResultExcerpt, &a.ResultDigest
	}
	return d
}

func maybeStamp(at *time.Time) *string {
	if at == nil {
		return nil
	}
	text := run.Stamp(*at)
	return &text
}

func list(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
