package pskaworker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

// lastWords bounds what is still said to either side when work ends before its time.
const lastWords = 10 * time.Second

// failure is why a job is not done, and whether PSKA may try it again.
type failure struct {
	code, text string
	retryable  bool
}

func (f failure) Error() string { return f.code + ": " + f.text }

// work leases a job, digests it and reports. It reports whether the job is settled: one that could not be had, or that
// PSKA may try again, is not.
func (w *Worker) work(hard context.Context, job Job) (settled bool) {
	log := w.cfg.Log.With(slog.String("job_id", job.ID))
	leasedJob, err := w.pska.take(hard, job)
	if err != nil {
		if gone(err) {
			log.Debug("job is not to be had", slog.Any("error", err))
		} else {
			log.Warn("job not leased", slog.Any("error", err))
		}
		return false
	}
	job = w.named(leasedJob)
	log.Info("job leased")
	ctx, end := context.WithCancelCause(hard)
	defer end(nil)
	timed, stop := context.WithTimeoutCause(ctx, w.cfg.RunTimeout, errTooLong)
	defer stop()
	h := w.keep(ctx, job, end)
	defer h.letGo()
	o, err := w.digest(timed, job)
	if err == nil {
		return w.reportDone(ctx, h, o)
	}
	return w.reportFailure(ctx, h, o.runID, reasonOf(timed, err))
}

// named returns the job with the tenant and the user it is for, where its entry names none.
func (w *Worker) named(job Job) Job {
	job.Tenant, job.User = cmp.Or(job.Tenant, w.cfg.PSKA.Tenant), cmp.Or(job.User, w.cfg.PSKA.User)
	return job
}

// reasonOf prefers the cause that ended the work to what its end produced.
func reasonOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// reportFailure ends what is left of the run and tells PSKA, unless the job is no longer this worker's. It reports
// whether the job is not to be tried again.
func (w *Worker) reportFailure(ctx context.Context, h *hold, runID string, why error) (settled bool) {
	log := w.cfg.Log.With(slog.String("job_id", h.job.ID), slog.String("run_id", runID))
	var told failure
	switch {
	case errors.Is(why, errLost):
		log.Warn("lease lost, run cancelled")
		w.cancelRun(ctx, runID, reasonLost)
		return false
	case errors.Is(why, errStopping):
		log.Info("worker stops, job handed back")
		told = failure{"worker_stopped", "the worker was stopped before the run ended", true}
		w.cancelRun(ctx, runID, reasonStopped)
	case errors.Is(why, errTooLong):
		told = failure{"run_timeout", "the run did not end in time", true}
		w.cancelRun(ctx, runID, reasonTimeout)
	case errors.As(why, &told):
	default:
		told = failure{"worker_error", "the batch could not be worked on", true}
		log.Error("job failed", slog.Any("error", why))
	}
	w.tellFailure(ctx, h, told)
	return !told.retryable
}

// cancelRun ends a run that nobody will follow. A service that is not there now ends it by its own limits.
func (w *Worker) cancelRun(ctx context.Context, runID, reason string) {
	if runID == "" {
		return
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer stop()
	if _, err := w.service.Cancel(last, runID, reason); err != nil {
		w.cfg.Log.Warn("run not cancelled", slog.String("run_id", runID), slog.Any("error", err))
	}
}
