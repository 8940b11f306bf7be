package pskaworker

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// reportDone tells PSKA the result until it has taken or refused it. After a try whose answer never came the lease is
// asked for again first: PSKA leases no job that is completed, nor one that another worker has, so that a job is
// completed once. It reports whether PSKA has taken the end of the job.
func (w *Worker) reportDone(ctx context.Context, h *hold, o outcome) (settled bool) {
	h.letGo()
	log := w.cfg.Log.With(slog.String("job_id", h.job.ID), slog.String("run_id", o.runID))
	doubtful := h.lapsed()
	down := backoff{least: time.Second, most: longestPause}
	for {
		err := w.tryComplete(ctx, h, o, doubtful)
		switch {
		case err == nil:
			log.Info("job completed")
			return true
		case gone(err):
			log.Warn("job is over or another worker's, result not taken", slog.Any("error", err))
			return false
		case final(err):
			log.Error("result refused", slog.Any("error", err))
			w.tellFailure(ctx, h, failure{"result_refused", "PSKA did not take the result", false})
			return false
		}
		doubtful = true
		log.Warn("result not delivered", slog.Any("error", err))
		if pauseFor(ctx, max(down.next(), retryAfter(err))) != nil {
			log.Error("job left to its lease, its result not delivered")
			return false
		}
	}
}

func (w *Worker) tryComplete(ctx context.Context, h *hold, o outcome, doubtful bool) error {
	if doubtful {
		if err := h.renew(ctx); err != nil {
			return err
		}
	}
	return w.pska.complete(ctx, h.job, o.result)
}

// tellFailure tells PSKA that a job is not done. It outlives the work: a job that is handed back is taken again at
// once, one that is not only when its lease is over.
func (w *Worker) tellFailure(ctx context.Context, h *hold, why failure) {
	h.letGo()
	log := w.cfg.Log.With(slog.String("job_id", h.job.ID), slog.String("code", why.code))
	if ctx.Err() != nil {
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer stop()
		ctx = last
	}
	down := backoff{least: time.Second, most: longestPause}
	for {
		err := w.pska.fail(ctx, h.job, why)
		switch {
		case err == nil:
			log.Info("job failed", slog.Bool("retryable", why.retryable), slog.String("reason", why.text))
			return
		case gone(err), final(err):
			log.Warn("failure not taken", slog.Any("error", err))
			return
		}
		log.Warn("failure not delivered", slog.Any("error", err))
		if pauseFor(ctx, max(down.next(), retryAfter(err))) != nil {
			return
		}
	}
}

func retryAfter(err error) time.Duration {
	var refused *refusal
	if errors.As(err, &refused) {
		return min(refused.after, longestPause)
	}
	return 0
}
