package pskaworker

import (
	"sync"
	"time"
)

// rests says which jobs are left alone for a while: one that could not be had, so that it does not keep others from
// their turn, and one that failed, so that a fault that passes does not use up its tries. The pause grows with every
// time. The zero value is not usable; newRests makes one.
type rests struct {
	least time.Duration
	mu    sync.Mutex
	jobs  map[string]*rest
}

type rest struct {
	pauses backoff
	until  time.Time
}

func newRests(poll time.Duration) *rests {
	return &rests{least: min(time.Second, poll), jobs: map[string]*rest{}}
}

// hear learns how a turn of a job ended.
func (r *rests) hear(id string, settled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if settled {
		delete(r.jobs, id)
		return
	}
	if r.jobs[id] == nil {
		r.jobs[id] = &rest{pauses: backoff{least: r.least, most: longestPause}}
	}
	one := r.jobs[id]
	one.until = time.Now().Add(one.pauses.next())
}

// rested returns the jobs that do not rest, and forgets those that are long since fit or gone.
func (r *rests) rested(jobs []Job) []Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for id, one := range r.jobs {
		if now.Sub(one.until) > 4*longestPause {
			delete(r.jobs, id)
		}
	}
	var fit []Job
	for _, job := range jobs {
		if one := r.jobs[job.ID]; one == nil || !now.Before(one.until) {
			fit = append(fit, job)
		}
	}
	return fit
}
