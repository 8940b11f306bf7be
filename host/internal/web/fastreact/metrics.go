package fastreact

import (
	"net/http"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Stats is the operational summary. It is "not a billing ledger".
type Stats struct {
	RunsByStatus      map[run.Status]int
	AvgRunDuration    time.Duration
	Events            int
	ErrorEvents       int
	RecentErrors      []RecentError // newest first
	Audits            int           // decision records
	AvgToolDuration   time.Duration
	ApprovalsByStatus map[run.ApprovalStatus]int
	AvgResolution     time.Duration
	Usage             run.Usage
	Driver            string // of the store
	Streams           map[string]Stream
	Plugins           map[string]PluginStats
	Executors         map[string]ExecutorStats
	Dispatch          *DispatchStats // of this process
}

// DispatchStats is what the process that answers does with runs, and what it saw of others.
type DispatchStats struct {
	Driving        int   `json:"runs_driven"`            // now
	Fenced         int64 `json:"fenced_writes"`          // refused because the run belongs to a later claim
	TakenOver      int64 `json:"takeovers"`              // of runs that another process left behind
	Released       int64 `json:"handed_back"`            // while it stopped
	CrashLoops     int64 `json:"crash_loops"`            // runs that it gave up
	RenewalsFailed int64 `json:"lease_renewal_failures"` // for want of the store
}

// RecentError is one failed run, in words that are safe to show.
type RecentError struct {
	Run  run.Ref
	At   time.Time
	Code string
	Text string
}

// Stream is the size of one kind of record.
type Stream struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
}

// PluginStats counts one plugin's calls.
type PluginStats struct {
	Calls    int64 `json:"calls"`
	Failures int64 `json:"failures"`
}

// ExecutorStats is how full an executor of guarded runs is.
type ExecutorStats struct {
	Size     int   `json:"size"`
	Queue    int   `json:"queue"`
	InUse    int   `json:"in_use"`
	Waiting  int   `json:"waiting"`
	Rejected int64 `json:"rejected"` // since the start
}

type metricsBody struct {
	Schema    string                   `json:"schema"`
	Runs      runMetrics               `json:"runs"`
	Events    eventMetrics             `json:"events"`
	Tools     toolMetrics              `json:"tools"`
	Approvals approvalMetrics          `json:"approvals"`
	Errors    errorMetrics             `json:"errors"`
	Store     storeMetrics             `json:"store"`
	LLM       modelMetrics             `json:"llm"`
	Plugins   map[string]PluginStats   `json:"plugins"`
	Executors map[string]ExecutorStats `json:"executors,omitempty"`
	Dispatch  *DispatchStats           `json:"dispatch,omitempty"`
}

type runMetrics struct {
	Live          int                `json:"live_count"`
	Traces        int                `json:"trace_count"`
	StatusCounts  map[run.Status]int `json:"status_counts"`
	AvgDurationMS *float64           `json:"avg_duration_ms"`
}

type eventMetrics struct {
	Total  int `json:"total_count"`
	Errors int `json:"error_count"`
}

type toolMetrics struct {
	Audits        int      `json:"audit_count"`
	AvgDurationMS *float64 `json:"avg_duration_ms"`
}

type approvalMetrics struct {
	Count           int                        `json:"count"`
	StatusCounts    map[run.ApprovalStatus]int `json:"status_counts"`
	Pending         int                        `json:"pending_count"`
	Expired         int                        `json:"expired_count"`
	AvgResolutionMS *float64                   `json:"avg_resolution_ms"`
}

type errorMetrics struct {
	Count  int           `json:"count"`
	Recent []wireFailure `json:"recent"`
}

type wireFailure struct {
	RunID     string `json:"run_id"`
	Timestamp string `json:"timestamp"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

type storeMetrics struct {
	Driver  string            `json:"driver"`
	Streams map[string]Stream `json:"streams"`
}

type modelMetrics struct {
	Usage run.Usage `json:"usage_total"`
}

func (f *face) metrics(x *web.Exchange) error {
	seen, err := x.View()
	if err != nil {
		return err
	}
	stats, err := f.cfg.Inspector.Stats(x.Request.Context(), run.Filter{Tenant: seen.Tenant, UserKey: seen.User})
	if err != nil {
		return err
	}
	if seen != (web.View{}) {
		stats.Plugins, stats.Executors, stats.Dispatch = nil, nil, nil // their counts are of everybody's
	}
	return x.JSON(http.StatusOK, toMetrics(stats))
}

func toMetrics(s Stats) metricsBody {
	runs, traces := countsOf(s.RunsByStatus)
	approvals, count := countsOf(s.ApprovalsByStatus)
	return metricsBody{
		Schema: "fastreact.metrics.v1",
		Runs: runMetrics{
			Live: runs[run.Queued] + runs[run.Running], Traces: traces, StatusCounts: runs,
			AvgDurationMS: milliseconds(s.AvgRunDuration),
		},
		Events: eventMetrics{s.Events, s.ErrorEvents},
		Tools:  toolMetrics{s.Audits, milliseconds(s.AvgToolDuration)},
		Approvals: approvalMetrics{
			Count: count, StatusCounts: approvals, Pending: approvals[run.Pending], Expired: approvals[run.Expired],
			AvgResolutionMS: milliseconds(s.AvgResolution),
		},
		Errors:  errorMetrics{s.ErrorEvents, toFailures(s.RecentErrors)},
		Store:   storeMetrics{s.Driver, orEmptyMap(s.Streams)},
		LLM:     modelMetrics{s.Usage},
		Plugins: orEmptyMap(s.Plugins), Executors: s.Executors, Dispatch: s.Dispatch,
	}
}

// countsOf returns the counts, never nil, and their sum.
func countsOf[K comparable](counts map[K]int) (same map[K]int, sum int) {
	for _, count := range counts {
		sum += count
	}
	return orEmptyMap(counts), sum
}

func orEmptyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// maxRecent is how many failures the summary tells of.
const maxRecent = 5

func toFailures(recent []RecentError) []wireFailure {
	wire := []wireFailure{}
	for _, failure := range recent[:min(len(recent), maxRecent)] {
		wire = append(wire, wireFailure{failure.Run.ID, stamp(failure.At), failure.Code, failure.Text})
	}
	return wire
}
