package pskaworker

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/fastreact/fastreact/sdk/client"
)

// tally adds up a run's events.
type tally struct {
	last    int64
	calls   map[string]int
	sources []string
	end     *client.Event
}

// follow reads a run's events until it is over. A service that is gone meanwhile is waited for.
func (w *Worker) follow(ctx context.Context, o *outcome) error {
	seen := tally{last: -1, calls: map[string]int{}}
	down := backoff{least: 500 * time.Millisecond, most: longestPause}
	for seen.end == nil {
		before := seen.last
		err := w.read(ctx, o.runID, &seen)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case seen.end != nil:
			continue
		case client.IsStatus(err, 404):
			return failure{"run_lost", "the service does not know the run any more", true}
		}
		if seen.last > before {
			down.reset()
		}
		w.cfg.Log.Warn("run followed again", slog.String("run_id", o.runID), slog.Any("error", err))
		if err := pauseFor(ctx, down.next()); err != nil {
			return err
		}
	}
	return seen.conclude(o)
}

func (w *Worker) read(ctx context.Context, runID string, seen *tally) error {
	for event, err := range w.service.Follow(ctx, runID, seen.last) {
		if err != nil {
			return err
		}
		seen.hear(event)
	}
	return nil
}

func (t *tally) hear(event client.Event) {
	t.last = event.Sequence
	if event.Type == "tool_call" {
		t.calls[event.ToolName]++
	}
	for _, source := range event.CitedSourceIDs {
		if !slices.Contains(t.sources, source) {
			t.sources = append(t.sources, source)
		}
	}
	if event.Terminal() {
		t.end = &event
	}
}

// conclude makes the run's end an outcome or a failure.
func (t *tally) conclude(o *outcome) error {
	var about struct {
		StopReason string          `json:"stop_reason"`
		Code       string          `json:"code"`
		Reason     string          `json:"reason"`
		Usage      json.RawMessage `json:"llm_usage_total"`
	}
	_ = json.Unmarshal(t.end.Metadata, &about) // what is missing stays empty
	if t.end.Type == "error" {
		return failed(about.Code, about.Reason, t.end.Content)
	}
	if about.StopReason == "max_iterations" || about.StopReason == "max_tool_calls" {
		return failure{about.StopReason, "the run reached a limit before it was done", true}
	}
	sources := t.sources
	if sources == nil {
		sources = []string{}
	}
	o.result = map[string]any{
		"run_id": o.runID, "session_id": t.end.SessionID, "status": "completed", "content": t.end.Content,
		"stop_reason": about.StopReason, "event_count": t.last + 1, "tool_calls": t.calls,
		"cited_source_ids": sources, "llm_usage_total": about.Usage, "schema": "fastreact.digest_result.v1",
	}
	if o.items > 0 {
		o.result["item_count"] = o.items
	}
	return nil
}

// failed says what an ended run means for its job. A run that a person has cancelled is not tried again.
func failed(code, reason, text string) error {
	switch reason {
	case reasonLost, reasonStopped, reasonTimeout:
		return errOvertaken
	}
	switch code {
	case "cancelled":
		return failure{"run_cancelled", text, false}
	case "invalid_request", "forbidden", "context_too_large":
		return failure{code, text, false}
	}
	return failure{cmp.Or(code, "run_failed"), text, true}
}
