package client

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// Approval is one call that waits, or waited, for a person. A status that is not "approved" is not approved.
//
// Its kind says what the person is asked: whether the call may run, or what to do about a call that left and of which
// nobody knows whether it took effect.
type Approval struct {
	ID               string          `json:"request_id"`
	RunID            string          `json:"run_id"`
	SessionID        string          `json:"session_id"`
	UserKey          string          `json:"user_key"`
	TenantKey        string          `json:"tenant_key"`
	ToolName         string          `json:"tool_name"`
	ToolArgs         json.RawMessage `json:"tool_args"`
	ArgsDigest       string          `json:"args_digest"`
	Reason           string          `json:"reason"`
	DecisionLevel    string          `json:"decision_level"`
	PolicyScope      string          `json:"policy_scope"`
	Status           string          `json:"status"`
	Approved         bool            `json:"approved"`
	Expired          bool            `json:"expired"`
	CreatedAt        *time.Time      `json:"created_at"`
	ExpiresAt        *time.Time      `json:"expires_at"`
	ResolvedAt       *time.Time      `json:"resolved_at"`
	ResolvedBy       string          `json:"resolved_by"`
	ResolutionReason string          `json:"resolution_reason"`
	Kind             string          `json:"kind"`    // permission or outcome_unknown
	Choices          []string        `json:"choices"` // what an approve must choose from; nil: there is nothing to choose
	Choice           string          `json:"choice"`  // of a settled one

	Raw json.RawMessage `json:"-"` // the answer of the service that held it
}

// Approvals is a part of the list of approvals.
type Approvals struct {
	Items   []Approval `json:"approvals"`
	Total   int        `json:"total_count"`
	Pending int        `json:"pending_count"`
	HasMore bool       `json:"has_more"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// ApprovalsQuery selects approvals. Zero fields select all.
type ApprovalsQuery struct {
	Limit    int // 0 means the service's default
	Offset   int
	Status   string
	RunID    string
	ToolName string
	Order    string // asc is oldest first; empty means the service's default, newest first
}

// Approvals lists approvals.
func (c *Client) Approvals(ctx context.Context, query ApprovalsQuery) (Approvals, error) {
	var approvals Approvals
	raw, err := c.get(ctx, "/v1/approvals", values(map[string]string{
		"limit": number(query.Limit), "offset": number(query.Offset), "status": query.Status,
		"run_id": query.RunID, "tool_name": query.ToolName, "order": query.Order,
	}), &approvals)
	approvals.Raw = raw
	return approvals, err
}

// Approval returns one approval.
func (c *Client) Approval(ctx context.Context, id string) (Approval, error) {
	var holder approvalHolder
	raw, err := c.get(ctx, approvalPath(id, ""), nil, &holder)
	holder.Approval.Raw = raw
	return holder.Approval, err
}

// The kinds of approvals.
const (
	Permission     = "permission"
	UnknownOutcome = "outcome_unknown"
)

// The choices about an unknown outcome.
const (
	Retry       = "retry"         // run the call again, as far as policy allows today
	TreatAsDone = "treat_as_done" // it took effect: go on
	Abort       = "abort"         // end the run
)

// Resolution is an answer to an approval.
type Resolution struct {
	Approve        bool
	Choice         string // about an unknown outcome; empty otherwise, and for a plain refusal
	Reason         string
	IdempotencyKey string // of the service's tenant; with one, a request whose answer is lost is sent again
}

// Resolve answers an approval. The same answer again succeeds; the opposite, or a late one, is an *Error with status
// 409, and one without a choice that must be made an *Error with code choice_required.
func (c *Client) Resolve(ctx context.Context, id string, answer Resolution) (Approval, error) {
	path := approvalPath(id, "/deny")
	if answer.Approve {
		path = approvalPath(id, "/approve")
	}
	body := reasonBody(answer.Reason)
	if answer.Choice != "" {
		body["choice"] = answer.Choice
	}
	var holder approvalHolder
	raw, err := c.postKeyed(ctx, path, answer.IdempotencyKey, body, &holder)
	holder.Approval.Raw = raw
	return holder.Approval, err
}

// Approve lets the call run, as Resolve does.
func (c *Client) Approve(ctx context.Context, id, reason string) (Approval, error) {
	return c.Resolve(ctx, id, Resolution{Approve: true, Reason: reason})
}

// Deny refuses the call, as Resolve does.
func (c *Client) Deny(ctx context.Context, id, reason string) (Approval, error) {
	return c.Resolve(ctx, id, Resolution{Reason: reason})
}

type approvalHolder struct {
	Approval Approval `json:"approval"`
}

func approvalPath(id, rest string) string { return "/v1/approvals/" + url.PathEscape(id) + rest }
