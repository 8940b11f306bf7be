package pskaworker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/fastreact/fastreact/sdk/client"
)

// The reasons for which workers cancel runs. Another worker that follows such a run begins the next.
const (
	reasonLost    = "pska_worker_lease_lost"
	reasonStopped = "pska_worker_stopped"
	reasonTimeout = "pska_worker_timeout"
)

// maxRuns is how many runs over one job are tried in all.
const maxRuns = 100

// errOvertaken reports a run that an earlier worker of this job has cancelled.
var errOvertaken = errors.New("the run was cancelled by another worker")

// outcome is what came of the run over a job.
type outcome struct {
	runID  string // also of a run that is not over
	result map[string]any
	items  int
}

// digest finds the run over a job, or starts one, and follows it to its end. A run that is there already, because the
// worker that started it is gone, is taken up; one that failed is followed by the next.
func (w *Worker) digest(ctx context.Context, job Job) (outcome, error) {
	for n := 1; n <= maxRuns; n++ {
		o := outcome{runID: job.RunID(n)}
		run, found, err := w.find(ctx, o.runID)
		if err != nil {
			return o, err
		}
		if found && (run.Status == "failed" || run.Status == "cancelled") {
			continue
		}
		if !found {
			if o.items, err = w.begin(ctx, job, o.runID); err != nil {
				return o, err
			}
		} else {
			w.cfg.Log.Info("run taken up", slog.String("job_id", job.ID), slog.String("run_id", o.runID))
		}
		err = w.follow(ctx, &o)
		if errors.Is(err, errOvertaken) || found && run.Status == "completed" && again(err) {
			continue
		}
		return o, err
	}
	return outcome{}, failure{"too_many_runs", fmt.Sprintf("%d runs over this job have failed", maxRuns), false}
}

// again reports whether a failure may not come a second time.
func again(err error) bool {
	var told failure
	return errors.As(err, &told) && told.retryable
}

// find looks for a run, for as long as it takes.
func (w *Worker) find(ctx context.Context, runID string) (run client.Run, found bool, err error) {
	err = w.insist(ctx, func() error {
		run, err = w.service.Run(ctx, runID)
		if client.IsStatus(err, http.StatusNotFound) {
			found = false
			return nil
		}
		found = err == nil
		return err
	})
	return run, found, err
}

// begin reads the batch and starts the run. A run of that id that is there after all is as good.
func (w *Worker) begin(ctx context.Context, job Job, runID string) (items int, err error) {
	var b batch
	if err := w.insist(ctx, func() (err error) {
		b, err = w.pska.batch(ctx, job, w.cfg.MaxBatchBytes)
		return err
	}); err != nil {
		return 0, err
	}
	request, err := w.request(job, b, runID)
	if err != nil {
		return 0, err
	}
	return b.total, w.insist(ctx, func() error {
		_, err := w.service.Submit(ctx, request)
		if client.IsStatus(err, http.StatusConflict) {
			return nil
		}
		return err
	})
}

// insist tries until it works, the answer is a refusal, or ctx ends.
func (w *Worker) insist(ctx context.Context, try func() error) error {
	down := backoff{least: time.Second, most: longestPause}
	for {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if refused := refusedFor(err); refused != nil {
			return refused
		}
		w.cfg.Log.Warn("tried again later", slog.Any("error", err))
		pause := down.next()
		var said *client.Error
		if errors.As(err, &said) {
			pause = max(pause, min(said.RetryAfter, longestPause))
		}
		if err := pauseFor(ctx, max(pause, retryAfter(err))); err != nil {
			return err
		}
	}
}

// refusedFor returns the failure of a job that one of both sides will not have, nil when trying again may help.
func refusedFor(err error) error {
	var said *client.Error
	var refused failure
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &said) && (said.Status == http.StatusUnauthorized || said.Status == http.StatusForbidden):
		return failure{"service_refused", "the service refused the worker's credential", true}
	case errors.As(err, &said) && said.Status != http.StatusTooManyRequests && said.Status/100 == 4:
		return failure{"run_refused", cmp.Or(said.Code, "invalid_request"), false}
	case final(err):
		return failure{"batch_refused", strings.TrimSpace(err.Error()), false}
	}
	return nil
}
