package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// Run is one run as the service shows it.
type Run struct {
	ID          string          `json:"run_id"`
	SessionID   string          `json:"session_id"`
	Kind        string          `json:"kind"`
	Status      string          `json:"status"` // queued, running, completed, failed or cancelled
	CreatedAt   *time.Time      `json:"created_at"`
	StartedAt   *time.Time      `json:"started_at"`
	CompletedAt *time.Time      `json:"completed_at"`
	CancelledAt *time.Time      `json:"cancelled_at"`
	DurationMS  *float64        `json:"duration_ms"`
	EventCount  int             `json:"event_count"`
	Error       json.RawMessage `json:"error"`
	Metadata    json.RawMessage `json:"metadata"`
	Attempts    int             `json:"attempts"`
	Phase       string          `json:"phase"`            // of a running one that nobody drives: awaiting_approval or ready
	WorkerID    string          `json:"worker_id"`        // the process that drives it; empty: none
	LeaseUntil  *time.Time      `json:"lease_expires_at"` // when another may take it over
	RetryAfter  *time.Time      `json:"retry_after"`      // it is not tried again before
	LastError   string          `json:"last_error"`
	MinSequence int64           `json:"min_sequence"` // of the first event that is still there

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Answer is the summary of a chat without a stream. Type is "error" when the run failed, and Error says why.
type Answer struct {
	Type       string          `json:"type"`
	RunID      string          `json:"run_id"`
	SessionID  string          `json:"session_id"`
	Content    string          `json:"content"`
	Events     []Event         `json:"events"`
	DurationMS float64         `json:"duration_ms"`
	Error      json.RawMessage `json:"error"`
	Metadata   json.RawMessage `json:"metadata"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Runs is a part of the list of runs, newest first.
type Runs struct {
	Items   []Run `json:"runs"`
	Total   int   `json:"total_count"`
	HasMore bool  `json:"has_more"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// RunsQuery selects runs. Zero fields select all.
type RunsQuery struct {
	Limit     int // 0 means the service's default
	Status    string
	SessionID string
}

// Events is a part of a run's events, oldest first.
type Events struct {
	Status    string  `json:"status"`
	Items     []Event `json:"events"`
	NextAfter int64   `json:"next_after_sequence"`
	HasMore   bool    `json:"has_more"`

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// Complete asks a question and waits for the whole answer.
func (c *Client) Complete(ctx context.Context, request Request) (Answer, error) {
	var answer Answer
	raw, err := c.postKeyed(ctx, "/v1/chat/completions", request.IdempotencyKey, asked{request, false}, &answer)
	answer.Raw = raw
	return answer, err
}

// Submit starts a background run.
func (c *Client) Submit(ctx context.Context, request Request) (Run, error) {
	var run Run
	raw, err := c.postKeyed(ctx, "/v1/runs", request.IdempotencyKey, request, &run)
	run.Raw = raw
	return run, err
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	var run Run
	raw, err := c.get(ctx, runPath(id, ""), nil, &run)
	run.Raw = raw
	return run, err
}

// Runs lists runs, newest first.
func (c *Client) Runs(ctx context.Context, query RunsQuery) (Runs, error) {
	var runs Runs
	raw, err := c.get(ctx, "/v1/runs", values(map[string]string{
		"limit": number(query.Limit), "status": query.Status, "session_id": query.SessionID,
	}), &runs)
	runs.Raw = raw
	return runs, err
}

// Events returns events of a run behind the sequence after (-1 = from the start), at most limit of them (0 = the
// service's default).
func (c *Client) Events(ctx context.Context, id string, after int64, limit int) (Events, error) {
	var events Events
	raw, err := c.get(ctx, runPath(id, "/events"), values(map[string]string{
		"after_sequence": strconv.FormatInt(after, 10), "limit": number(limit),
	}), &events)
	events.Raw = raw
	return events, err
}

// Cancellation is the wish to end a run.
type Cancellation struct {
	Reason         string
	IdempotencyKey string // of the run's tenant; with one, a request whose answer is lost is sent again
}

// CancelRun asks that a run ends and returns it. A run that has ended is returned unchanged.
func (c *Client) CancelRun(ctx context.Context, id string, wish Cancellation) (Run, error) {
	var run Run
	raw, err := c.postKeyed(ctx, runPath(id, "/cancel"), wish.IdempotencyKey, reasonBody(wish.Reason), &run)
	run.Raw = raw
	return run, err
}

// Cancel asks that a run ends, as CancelRun does.
func (c *Client) Cancel(ctx context.Context, id, reason string) (Run, error) {
	return c.CancelRun(ctx, id, Cancellation{Reason: reason})
}

func runPath(id, rest string) string { return "/v1/runs/" + url.PathEscape(id) + rest }

func reasonBody(reason string) map[string]string {
	if reason == "" {
		return map[string]string{}
	}
	return map[string]string{"reason": reason}
}

// values makes a query of the values that are not empty.
func values(given map[string]string) url.Values {
	query := url.Values{}
	for name, value := range given {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
