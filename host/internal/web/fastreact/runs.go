package fastreact

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// wireRun is the snapshot of a run.
type wireRun struct {
	Type           string         `json:"type"`
	RunID          string         `json:"run_id"`
	SessionID      string         `json:"session_id"`
	Status         string         `json:"status"`
	CreatedAt      string         `json:"created_at"`
	StartedAt      *string        `json:"started_at"`
	CompletedAt    *string        `json:"completed_at"`
	CancelledAt    *string        `json:"cancelled_at"`
	DurationMS     *float64       `json:"duration_ms"`
	EventCount     int64          `json:"event_count"`
	Error          *string        `json:"error"`
	Metadata       map[string]any `json:"metadata"`
	Options        wireOptions    `json:"generation_options"`
	Attempts       int            `json:"attempts"`
	LeaseExpiresAt *string        `json:"lease_expires_at"`
	RetryAfter     *string        `json:"retry_after"`
	WorkerID       *string        `json:"worker_id"`
	LastError      *string        `json:"last_error"`
	Kind           string         `json:"kind"`
	Phase          *string        `json:"phase"`
	ErrorCode      *string        `json:"error_code"`
	UserKey        *string        `json:"user_key"`
	TenantKey      *string        `json:"tenant_key"`
	MinSequence    int64          `json:"min_sequence"` // of the first event that is still there
}

// wireOptions are the generation options that the client chose.
type wireOptions struct {
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
}

func toRun(r run.Run) wireRun {
	wire := wireRun{
		Type: "run", RunID: r.ID, SessionID: r.SessionID, Status: string(r.Status),
		CreatedAt: stamp(r.CreatedAt), StartedAt: stampOrNull(r.StartedAt), DurationMS: durationOf(r),
		EventCount: r.NextSeq, Error: orNull(r.Outcome.Error), Metadata: withIdentity(r.Request),
		Options: toOptions(r.Request), Attempts: r.Attempts, WorkerID: orNull(workerOf(r)),
		LeaseExpiresAt: stampOrNull(r.LeaseUntil), RetryAfter: stampOrNull(retryOf(r)), LastError: orNull(lastErrorOf(r)),
		Kind: string(r.Kind), Phase: orNull(string(r.Phase)),
		ErrorCode: orNull(r.Outcome.ErrorCode), UserKey: orNull(r.Request.Identity.UserKey),
		TenantKey: orNull(string(r.Tenant)), MinSequence: r.FirstSeq,
	}
	if r.Status == run.Cancelled {
		wire.CancelledAt = stampOrNull(r.FinishedAt)
	} else {
		wire.CompletedAt = stampOrNull(r.FinishedAt)
	}
	return wire
}

// workerOf names the process that drives the run. One that left it behind in a store of its own has no lease any more.
func workerOf(r run.Run) string {
	if r.LeaseUntil == nil {
		return ""
	}
	return r.Owner
}

// retryOf returns before when the run is not tried again; nil where nothing keeps it, or nobody will.
func retryOf(r run.Run) *time.Time {
	if r.Status.Terminal() || r.Owner != "" && r.Barren == 0 {
		return nil
	}
	return r.NotBefore
}

// lastErrorOf returns why the run failed, or what is known of those who drove it before.
func lastErrorOf(r run.Run) string {
	switch {
	case r.Status.Terminal() || r.Barren == 0:
		return r.Outcome.Error
	case r.Barren == 1:
		return "The worker that drove the run ended before the run came further."
	}
	return fmt.Sprintf("%d workers in a row ended before the run came further.", r.Barren)
}

func toOptions(request run.Request) wireOptions {
	return wireOptions{request.Model, request.Options.Temperature, request.Options.TopP, request.Options.MaxTokens}
}

// durationOf returns how long a finished run took, waiting included; nil while it is not over.
func durationOf(r run.Run) *float64 {
	if r.FinishedAt == nil {
		return nil
	}
	begun := r.CreatedAt
	if r.StartedAt != nil {
		begun = *r.StartedAt
	}
	return milliseconds(max(0, r.FinishedAt.Sub(begun).Truncate(time.Microsecond)))
}

func (f *face) submit(x *web.Exchange) error {
	a, err := f.readRequest(x, run.Background)
	if err != nil {
		return err
	}
	r, err := f.cfg.Engine.Submit(x.Request.Context(), a.request)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, toRun(r))
}

func (f *face) getRun(x *web.Exchange) error {
	r, err := f.lookUp(x, "Run not found")
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, toRun(r))
}

// cancelRun ends a run. One that is over is answered unchanged.
func (f *face) cancelRun(x *web.Exchange) error {
	r, err := f.lookUp(x, "Run not found")
	if err != nil {
		return err
	}
	object, err := x.Object()
	if err != nil {
		return err
	}
	fields := web.NewFields(object)
	reason := fields.Text("reason", maxReason)
	if err := fields.Err(); err != nil {
		return err
	}
	if reason == "" {
		reason = "cancelled_by_client"
	}
	key, err := readChangeKey(x.Request.Header, ending, r.Tenant, r.ID, object)
	if err != nil {
		return err
	}
	r, err = f.cfg.Engine.Cancel(x.Request.Context(), r.Ref, reason, key)
	if err != nil {
		return missing(err, "Run not found")
	}
	return x.JSON(http.StatusOK, toRun(r))
}

// maxReason bounds the words beside a decision, in characters.
const maxReason = 2000

// streamRun replays a run and then tails it, from the start or after the event that the reader saw last.
func (f *face) streamRun(x *web.Exchange) error {
	r, err := f.lookUp(x, "Run not found")
	if err != nil {
		return err
	}
	after, err := resumePoint(x.Request)
	if err != nil {
		return err
	}
	return f.send(x, x.Stream(), r, after)
}

// resumePoint returns the last sequence that the reader has. What the URL says wins over Last-Event-ID.
func resumePoint(r *http.Request) (int64, error) {
	if r.URL.Query().Has("after_sequence") {
		return afterSequence(r.URL.Query())
	}
	given := r.Header.Get("Last-Event-ID")
	if given == "" {
		return -1, nil
	}
	after, err := strconv.ParseInt(given, 10, 64)
	if err != nil || after < -1 {
		return 0, web.BadRequest("invalid_cursor", "Last-Event-ID must be the id of an event of this stream.")
	}
	return after, nil
}
