// Package run holds the nouns of the house and their state machines: runs, events, approvals, decisions, tools and
// errors. It does no I/O and knows no wire format.
package run

import (
	"encoding/json"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// TenantKey names a tenant. Empty means no tenant.
type TenantKey string

// Ref names a run. ID is unique within its tenant only: "metadata.run_id is optional; FastReAct generates one when
// absent", and two tenants may choose alike.
type Ref struct {
	Tenant TenantKey
	ID     string
}

// Kind says how a run was asked for.
type Kind string

// The two kinds of run.
const (
	Chat       Kind = "chat"       // a client waits on the connection
	Background Kind = "background" // the queue owns it
)

// Status is a run's place in its life. Values are the seed's.
type Status string

// The five statuses.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Terminal reports whether a run with this status never changes again.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// CanBecome reports whether a run may go from s to next.
func (s Status) CanBecome(next Status) bool {
	switch s {
	case Queued:
		return next == Running || next == Cancelled || next == Failed
	case Running:
		return next.Terminal()
	}
	return false
}

// Phase says why a running run is not being driven.
type Phase string

// The phases. A parked run holds no owner, worker or goroutine.
const (
	Active           Phase = ""
	AwaitingApproval Phase = "awaiting_approval" // parked: at least one approval is pending
	Ready            Phase = "ready"             // parked, and every approval is settled: may be claimed
)

// Run is one question on its way to an answer. Times are UTC; nil means not yet.
type Run struct {
	Ref
	SessionID  string
	Kind       Kind
	Status     Status
	Phase      Phase
	Request    Request
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time // completed, failed or cancelled, by Status
	NextSeq    int64      // sequence of the next event = number of events
	FirstSeq   int64      // sequence of the first event that is still there; NextSeq when there is none
	Attempts   int        // how often it was claimed
	Barren     int        // claims in a row that ended without a new event
	Cancel     string     // reason of a recorded cancel; empty when none
	Outcome    Outcome
	Owner      string     // incarnation that drives it; empty when nobody does
	Epoch      int64      // grows with every claim; fences writes of earlier owners
	LeaseUntil *time.Time // until when it is its owner's without a renewal; nil when nobody drives it
	NotBefore  *time.Time // it is not claimed earlier; nil when it may be at once
	LeftBehind bool       // said by its claim only: the owner before had a lease that ended
}

// Fence proves the right to write to a run: only the latest claim's owner and epoch may append.
type Fence struct {
	Ref
	Owner string
	Epoch int64
}

// Fence returns the fence of the run's present claim.
func (r Run) Fence() Fence { return Fence{Ref: r.Ref, Owner: r.Owner, Epoch: r.Epoch} }

// Outcome is how a run ended, kept beside its events so that lists need not read them.
type Outcome struct {
	Answer     string         `json:"answer,omitempty"` // whole final text
	StopReason string         `json:"stop_reason,omitempty"`
	ErrorCode  string         `json:"error_code,omitempty"` // stable code of a failure
	Error      string         `json:"error,omitempty"`      // safe sentence of a failure
	Usage      *Usage         `json:"usage,omitempty"`
	ToolCalls  map[string]int `json:"tool_calls,omitempty"` // calls by registered tool name
	Approvals  int            `json:"approvals,omitempty"`
	PolicyHash string         `json:"policy_hash,omitempty"`
}

// Usage counts tokens as the model reported them.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// Add returns the sum of u and more.
func (u Usage) Add(more Usage) Usage {
	return Usage{
		u.PromptTokens + more.PromptTokens,
		u.CompletionTokens + more.CompletionTokens,
		u.TotalTokens + more.TotalTokens,
	}
}

// Request is what a client asked for, validated. Metadata is the client's own object, kept whole.
type Request struct {
	ID            string          `json:"id"`         // chosen by the client, else generated before the run is stored
	SessionID     string          `json:"session_id"` // likewise
	Kind          Kind            `json:"kind"`
	Messages      []Message       `json:"messages"`
	Model         string          `json:"model,omitempty"`
	Options       ModelOptions    `json:"options"`
	Identity      sdk.Identity    `json:"identity"`
	Skills        *[]string       `json:"skills,omitempty"` // nil = automatic, empty = none
	ToolPolicy    ToolPolicy      `json:"tool_policy"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	Detached      bool            `json:"detached,omitempty"` // on_disconnect: continue
	StreamDeltas  bool            `json:"stream_deltas,omitempty"`
	SessionMemory bool            `json:"session_memory,omitempty"`
	Multitask     Multitask       `json:"multitask,omitempty"` // empty: see OrDefault
	Idempotency   Idempotency     `json:"idempotency,omitzero"`
	Profile       string          `json:"profile,omitempty"`     // the kind of run, chosen by the face; empty: the agent's own
	RunTimeout    time.Duration   `json:"run_timeout,omitempty"` // of one drive; 0: the dispatcher's, which it never exceeds
}

// Idempotency says which requests of one tenant and user are the same request: those with one key and one digest. The
// zero value is a request of its own.
type Idempotency struct {
	Key    string `json:"key,omitempty"`    // chosen by the client
	Digest string `json:"digest,omitempty"` // of what was asked for
}

// ModelOptions are the generation options a client may set. nil means the model's default.
type ModelOptions struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
}

// Query returns the last user message's text.
func (r Request) Query() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == User {
			return r.Messages[i].Content
		}
	}
	return ""
}

// Role says who speaks in a conversation.
type Role string

// The four roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of a conversation with the model.
type Message struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	Reasoning  string     `json:"reasoning,omitempty"`    // reasoning_content, returned to the model as it came
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // assistant only
	ToolCallID string     `json:"tool_call_id,omitempty"` // tool only
}

// ToolCall is the model's wish. Arguments is the text the model wrote: it may be anything.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Filter selects runs. Zero fields select all.
type Filter struct {
	Tenant    *TenantKey // nil: every tenant
	ID        string
	Status    Status
	SessionID string
	UserKey   string
	Kind      Kind
	Limit     int // at most this many, newest first; 0 means none, only the total
}

// Page is a part of a longer list.
type Page[T any] struct {
	Items []T
	Total int // how many match in all
}
