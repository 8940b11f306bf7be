package pskaworker

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// hold is a lease that is kept while work goes on.
type hold struct {
	worker *Worker
	job    Job
	end    context.CancelCauseFunc // of the work, when the lease is lost

	mu    sync.Mutex
	until time.Time // when the lease runs out by this worker's clock

	stop    context.CancelFunc
	stopped chan struct{}
}

// keep renews the lease of a job until letGo is called, and ends the work when PSKA says that it is lost.
func (w *Worker) keep(ctx context.Context, job Job, end context.CancelCauseFunc) *hold {
	renewing, stop := context.WithCancel(ctx)
	h := &hold{
		worker: w, job: job, end: end, until: time.Now().Add(w.cfg.Lease), stop: stop, stopped: make(chan struct{}),
	}
	go h.loop(renewing)
	return h
}

func (h *hold) loop(ctx context.Context) {
	defer close(h.stopped)
	third := h.worker.cfg.Lease / 3
	down := backoff{least: min(time.Second, third), most: min(longestPause, third)}
	for pause := third; ; {
		if pauseFor(ctx, pause) != nil {
			return
		}
		err := h.renew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case gone(err):
			h.end(errLost)
			return
		case err != nil:
			pause = down.next()
			h.worker.cfg.Log.Warn("lease not renewed", slog.String("job_id", h.job.ID), slog.Any("error", err))
		default:
			pause = third
			down.reset()
		}
	}
}

// renew asks for the lease once more.
func (h *hold) renew(ctx context.Context) error {
	asked := time.Now()
	if _, err := h.worker.pska.take(ctx, h.job); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = asked.Add(h.worker.cfg.Lease)
	return nil
}

// lapsed reports whether the lease may have run out, so that another worker may have the job.
func (h *hold) lapsed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !time.Now().Before(h.until)
}

// letGo stops renewing and waits until nothing of it is under way.
func (h *hold) letGo() {
	h.stop()
	<-h.stopped
}
