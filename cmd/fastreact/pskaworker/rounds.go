package pskaworker

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// rounds looks at the queue again and again and starts work as long as there are places. Of its two contexts, ctx ends
// the looking and hard the work.
type rounds struct {
	worker *Worker
	jobs   *sync.WaitGroup
	places chan struct{}
	again  chan struct{} // a place is free: there may be more to do

	tried map[string]bool // once only: jobs that had their turn
	rests *rests          // of jobs that are left alone for a while
}

func (r *rounds) forever(ctx, hard context.Context) {
	down := backoff{least: min(time.Second, r.worker.cfg.Poll), most: longestPause}
	for ctx.Err() == nil {
		pause := jittered(r.worker.cfg.Poll)
		if err := r.round(ctx, hard); err != nil && ctx.Err() == nil {
			pause = down.next()
			r.worker.cfg.Log.Warn("PSKA cannot be asked for jobs", slog.Duration("pause", pause), slog.Any("error", err))
		} else {
			down.reset()
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-r.again:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// round asks for jobs once and starts as many as there are places.
func (r *rounds) round(ctx, hard context.Context) error {
	jobs, err := r.worker.pska.jobs(ctx)
	if err != nil {
		return err
	}
	for _, job := range r.rests.rested(jobs) {
		select {
		case r.places <- struct{}{}:
		default:
			return nil
		}
		if ctx.Err() != nil || !r.start(hard, job, nil) {
			<-r.places
		}
	}
	return nil
}

// start works on a job in the place that the caller has taken. It reports whether it did.
func (r *rounds) start(hard context.Context, job Job, done func()) bool {
	if !r.worker.take(job.ID) {
		return false
	}
	r.jobs.Go(func() {
		r.rests.hear(job.ID, r.worker.work(hard, job))
		r.worker.release(job.ID)
		<-r.places
		select {
		case r.again <- struct{}{}:
		default:
		}
		if done != nil {
			done()
		}
	})
	return true
}

// onceTries is how often an unreachable PSKA is asked before --once gives up.
const onceTries = 4

// once gives every job that is due one turn.
func (r *rounds) once(ctx, hard context.Context) error {
	down := backoff{least: min(time.Second, r.worker.cfg.Poll), most: longestPause}
	for failed := 0; ctx.Err() == nil; {
		jobs, err := r.worker.pska.jobs(ctx)
		if err != nil {
			if failed++; failed == onceTries {
				return err
			}
			if pauseFor(ctx, down.next()) != nil {
				return nil
			}
			continue
		}
		if !r.turns(ctx, hard, jobs) {
			return nil
		}
	}
	return nil
}

// turns gives each job its turn and waits for all. It reports whether there was any that had none before.
func (r *rounds) turns(ctx, hard context.Context, jobs []Job) (fresh bool) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, job := range jobs {
		if r.tried[job.ID] {
			continue
		}
		select {
		case r.places <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		r.tried[job.ID] = true
		all.Add(1)
		if !r.start(hard, job, all.Done) {
			all.Done()
			<-r.places
			continue
		}
		fresh = true
	}
	return fresh
}
