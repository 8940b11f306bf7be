package fastreact

import (
	"net/http"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// previewLength is where a preview is cut, in characters.
const previewLength = 600

// wireTrace is the story of a run in numbers, with its whole answer.
type wireTrace struct {
	TraceType             string         `json:"trace_type"`
	RunID                 string         `json:"run_id"`
	SessionID             string         `json:"session_id"`
	Status                string         `json:"status"`
	CreatedAt             string         `json:"created_at"`
	StartedAt             *string        `json:"started_at"`
	CompletedAt           *string        `json:"completed_at"`
	DurationMS            *float64       `json:"duration_ms"`
	EventCount            int64          `json:"event_count"`
	ToolCallCount         int            `json:"tool_call_count"`
	ToolNameCounts        map[string]int `json:"tool_name_counts"`
	ApprovalCount         int            `json:"approval_count"`
	UsageTotal            *run.Usage     `json:"llm_usage_total"`
	FinalContent          string         `json:"final_content"`
	FinalContentPreview   string         `json:"final_content_preview"`
	FinalContentTruncated bool           `json:"final_content_truncated"` // the preview is; the content never is
	FinalContentLength    int            `json:"final_content_length"`    // characters
	Error                 *string        `json:"error"`
	Metadata              map[string]any `json:"metadata"`
	Options               wireOptions    `json:"generation_options"`
	PolicyHash            *string        `json:"policy_snapshot_hash"`
}

func toTrace(r run.Run) wireTrace {
	preview, length := previewOf(r.Outcome.Answer)
	wire := wireTrace{
		TraceType: string(r.Kind) + "_run", RunID: r.ID, SessionID: r.SessionID, Status: string(r.Status),
		CreatedAt: stamp(r.CreatedAt), StartedAt: stampOrNull(r.StartedAt), CompletedAt: stampOrNull(r.FinishedAt),
		DurationMS: durationOf(r), EventCount: r.NextSeq, ToolNameCounts: r.Outcome.ToolCalls,
		ApprovalCount: r.Outcome.Approvals, UsageTotal: r.Outcome.Usage, FinalContent: r.Outcome.Answer,
		FinalContentPreview: preview, FinalContentTruncated: length > previewLength, FinalContentLength: length,
		Error: orNull(r.Outcome.Error), Metadata: withIdentity(r.Request), Options: toOptions(r.Request),
		PolicyHash: orNull(r.Outcome.PolicyHash),
	}
	if wire.ToolNameCounts == nil {
		wire.ToolNameCounts = map[string]int{}
	}
	for _, calls := range wire.ToolNameCounts {
		wire.ToolCallCount += calls
	}
	return wire
}

// previewOf returns the first characters of a text, and how many it has in all.
func previewOf(text string) (preview string, length int) {
	length = utf8.RuneCountInString(text)
	if length <= previewLength {
		return text, length
	}
	return string([]rune(text)[:previewLength]), length
}

type traceList struct {
	Traces     []wireTrace `json:"traces"`
	Count      int         `json:"count"`
	TotalCount int         `json:"total_count"`
	Limit      int         `json:"limit"`
	HasMore    bool        `json:"has_more"`
}

func (f *face) listTraces(x *web.Exchange) error {
	page, limit, err := f.runPage(x)
	if err != nil {
		return err
	}
	list := traceList{[]wireTrace{}, len(page.Items), page.Total, limit, page.Total > len(page.Items)}
	for _, r := range page.Items {
		list.Traces = append(list.Traces, toTrace(r))
	}
	return x.JSON(http.StatusOK, list)
}

type traceBody struct {
	RunID string    `json:"run_id"`
	Trace wireTrace `json:"trace"`
}

func (f *face) getTrace(x *web.Exchange) error {
	r, err := f.lookUp(x, "Trace not found")
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, traceBody{r.ID, toTrace(r)})
}
