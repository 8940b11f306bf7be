package notify

import (
	"encoding/json"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Schema is the version of what a webhook receives.
const Schema = "fastreact.notification.v1"

// longestShown bounds the arguments in a notice, in characters. The digest is of all of them.
const longestShown = 4000

// message is what a webhook receives. Every text in it was made safe to show.
type message struct {
	Schema    string   `json:"schema"`
	Event     string   `json:"event"` // approval.requested, approval.settled or ping
	EventID   string   `json:"event_id"`
	CreatedAt string   `json:"created_at"`
	Approval  *subject `json:"approval"`
}

// subject is the approval that a message is about, as it was when it was sent.
type subject struct {
	RequestID        string  `json:"request_id"`
	RunID            string  `json:"run_id"`
	SessionID        string  `json:"session_id"`
	UserKey          string  `json:"user_key"`
	TenantKey        string  `json:"tenant_key"`
	ToolName         string  `json:"tool_name"`
	ToolArgsText     string  `json:"tool_args_text"` // JSON for people: not to be decoded, compare the digest
	ToolArgsCut      bool    `json:"tool_args_truncated"`
	ArgsDigest       string  `json:"args_digest"`
	Reason           string  `json:"reason"`
	DecisionLevel    string  `json:"decision_level"`
	PolicyScope      string  `json:"policy_scope"`
	Status           string  `json:"status"`
	Approved         bool    `json:"approved"`
	Expired          bool    `json:"expired"`
	TimeoutSeconds   float64 `json:"timeout_seconds"`
	CreatedAt        string  `json:"created_at"`
	ExpiresAt        string  `json:"expires_at"`
	ResolvedAt       *string `json:"resolved_at"`
	ResolvedBy       string  `json:"resolved_by"`
	ResolutionReason string  `json:"resolution_reason"`
	ApprovePath      string  `json:"approve_path"`
	DenyPath         string  `json:"deny_path"`
}

func messageOf(notice run.Notice, mask Mask) message {
	a := notice.Approval
	safe := func(text string) string { return sdk.Show(mask.Text(text)) }
	args, cut := shorten(sdk.Show(string(mask.JSON(a.Args))))
	about := &subject{
		RequestID: a.ID, RunID: safe(a.Run.ID), SessionID: safe(a.SessionID), UserKey: safe(a.UserKey),
		TenantKey: safe(string(a.Run.Tenant)), ToolName: safe(a.ToolName), ToolArgsText: args, ToolArgsCut: cut,
		ArgsDigest: a.ArgsDigest, Reason: safe(a.Reason), DecisionLevel: string(a.Decision.Level()),
		PolicyScope: safe(a.Decision.PolicyScope), Status: string(a.Status), Approved: a.Status == run.Approved,
		Expired: a.Status == run.Expired, TimeoutSeconds: a.Timeout.Seconds(), CreatedAt: stamp(a.CreatedAt),
		ExpiresAt: stamp(a.ExpiresAt), ResolvedBy: safe(a.ResolvedBy), ResolutionReason: safe(a.Resolution),
		ApprovePath: "/v1/approvals/" + a.ID + "/approve", DenyPath: "/v1/approvals/" + a.ID + "/deny",
	}
	if a.ResolvedAt != nil {
		at := stamp(*a.ResolvedAt)
		about.ResolvedAt = &at
	}
	return message{
		Schema: Schema, Event: string(notice.Kind), EventID: notice.ID, CreatedAt: stamp(notice.CreatedAt), Approval: about,
	}
}

// shorten cuts text at longestShown characters.
func shorten(text string) (shown string, cut bool) {
	runes := []rune(text)
	if len(runes) <= longestShown {
		return text, false
	}
	return string(runes[:longestShown]) + "…", true
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000-07:00") }

// encode writes a message. The bytes are what is signed.
func (m message) encode() ([]byte, error) { return json.Marshal(m) }
