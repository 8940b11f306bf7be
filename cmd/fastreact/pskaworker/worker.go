// Package pskaworker digests what PSKA has queued: it leases a job, reads its batch, lets a FastReAct service run over
// it, and reports the outcome. It promises that no job is completed twice and none is lost, whichever of the three
// programs dies or stops answering: a run's id follows from its job, so that a second worker finds the run of the
// first; a lease that is gone ends the run; an outcome is reported until PSKA has taken or refused it.
//
// It speaks HTTP on both sides and knows neither program's insides. What a digest is, is left to the model and PSKA's
// tools; what a run may do, to the service.
package pskaworker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/fastreact/fastreact/sdk/client"
)

// Config is what a worker is made of. PSKA.URL and Service are required; zero values mean the defaults.
type Config struct {
	PSKA          Endpoint
	Service       client.Config // of the FastReAct service
	WorkerID      string
	Poll          time.Duration // between looks at an empty queue; 5 s
	Lease         time.Duration // asked for, and renewed after a third; 300 s
	Concurrency   int           // jobs at once; 1
	Once          bool          // works through what is due, then ends
	Grace         time.Duration // how long runs may go on after the worker was told to stop; 20 s
	RunTimeout    time.Duration // of one job; 30 min
	AllowedTools  []string      // what a digest run may call; DefaultTools
	MaxBatchBytes int           // of a batch that the model is shown; 262144
	Log           *slog.Logger
}

// Endpoint says where PSKA is and as whom to call it.
type Endpoint struct {
	URL    string
	Token  string // X-PSKA-Service-Token; empty sends none
	Caller string // X-PSKA-Caller; pska_digest_worker
	Tenant string // of jobs that name none; pska
	User   string // of jobs that name none; user_primary
	HTTP   *http.Client
}

// DefaultTools returns what a digest run may call: the two digest tools, PSKA's tools that only read, and the one that
// reads on in a result that was too long.
func DefaultTools() []string {
	return []string{
		"pska_pska_job_context", "pska_pska_write_candidates", "pska_pska_search", "pska_pska_index_status",
		"pska_pska_read_evidence_context", "pska_pska_graph_context", "pska_pska_digest_context", "read_result",
	}
}

// Worker works on jobs. New makes one.
type Worker struct {
	cfg     Config
	pska    *pska
	service *client.Client

	mu     sync.Mutex
	flying map[string]bool // jobs of this worker that are under way, by id
}

// The causes that end work on a job.
var (
	errStopping = errors.New("the worker is stopping")
	errLost     = errors.New("the lease is lost")
	errTooLong  = errors.New("the run took too long")
)

// New returns a worker that does nothing yet.
func New(cfg Config) (*Worker, error) {
	cfg = cfg.complete()
	far, err := newPSKA(cfg)
	if err != nil {
		return nil, err
	}
	service, err := client.New(cfg.Service)
	if err != nil {
		return nil, err
	}
	return &Worker{cfg: cfg, pska: far, service: service, flying: map[string]bool{}}, nil
}

func (c Config) complete() Config {
	c.Poll = cmp.Or(c.Poll, 5*time.Second)
	c.Lease = cmp.Or(c.Lease, 300*time.Second)
	c.Concurrency = cmp.Or(c.Concurrency, 1)
	c.RunTimeout = cmp.Or(c.RunTimeout, 30*time.Minute)
	c.MaxBatchBytes = cmp.Or(c.MaxBatchBytes, 256<<10)
	c.PSKA.Caller = cmp.Or(c.PSKA.Caller, digestCaller)
	c.PSKA.Tenant = cmp.Or(c.PSKA.Tenant, "pska")
	c.PSKA.User = cmp.Or(c.PSKA.User, "user_primary")
	if c.AllowedTools == nil {
		c.AllowedTools = DefaultTools()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Run works until ctx ends, and then finishes what is under way within the grace; what is left is handed back. With
// Once it ends by itself; its error then says why PSKA could not be asked.
func (w *Worker) Run(ctx context.Context) error {
	hard, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(w.cfg.Grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			end(errStopping)
		case <-hard.Done():
		}
	})
	defer stop()
	var jobs sync.WaitGroup
	defer jobs.Wait()
	r := &rounds{
		worker: w, jobs: &jobs, places: make(chan struct{}, w.cfg.Concurrency),
		again: make(chan struct{}, 1), tried: map[string]bool{}, rests: newRests(w.cfg.Poll),
	}
	if w.cfg.Once {
		return r.once(ctx, hard)
	}
	r.forever(ctx, hard)
	return nil
}

// take marks a job as under way, unless it is already.
func (w *Worker) take(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flying[id] {
		return false
	}
	w.flying[id] = true
	return true
}

func (w *Worker) release(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.flying, id)
}

// RunID names the n-th run over a job. It follows from the job alone, so that every worker finds the same one.
func (j Job) RunID(n int) string {
	return fmt.Sprintf("pska-digest-%s-%s-%d", plain(j.ID), j.fingerprint(), n)
}
