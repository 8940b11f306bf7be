package client

import (
	"context"
	"encoding/json"
)

// Probe is a call that is judged but never made.
type Probe struct {
	ToolName  string          `json:"tool_name"`
	ToolArgs  json.RawMessage `json:"tool_args,omitempty"` // a JSON object
	UserKey   string          `json:"user_key,omitempty"`
	TenantKey string          `json:"tenant_key,omitempty"`
}

// Judgement is what policy would say about a call.
type Judgement struct {
	ToolName             string    `json:"tool_name"`
	UserKey              string    `json:"user_key"`
	TenantKey            string    `json:"tenant_key"`
	Level                string    `json:"level"` // safe, caution, danger or forbidden
	Reason               string    `json:"reason"`
	PatternMatched       *string   `json:"pattern_matched"`
	PolicyScope          *string   `json:"policy_scope"`
	PolicyAction         *string   `json:"policy_action"`
	PolicyMatched        bool      `json:"policy_matched"`
	RequiresConfirmation bool      `json:"requires_confirmation"`
	ShouldAllow          bool      `json:"should_allow"`
	Chain                []Opinion `json:"chain"` // every opinion, in the order it was heard

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Opinion is one voice about a call.
type Opinion struct {
	Source string `json:"source"`
	Action string `json:"action"`
	Reason string `json:"reason"`
}

// CheckPolicy asks what policy would say about a call. Nothing runs.
func (c *Client) CheckPolicy(ctx context.Context, probe Probe) (Judgement, error) {
	var judgement Judgement
	raw, err := c.post(ctx, "/v1/policy/check", probe, &judgement)
	judgement.Raw = raw
	return judgement, err
}
