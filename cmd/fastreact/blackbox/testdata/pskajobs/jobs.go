package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

// maxAttempts is how often a job is leased before a retryable failure ends it.
const maxAttempts = 10

// job is one entry of the queue. The items are its batch.
type job struct {
	ID       string            `json:"id"`
	Type     string            `json:"job_type"`
	Status   string            `json:"status"`
	Priority int               `json:"priority"`
	RunAfter string            `json:"run_after,omitempty"`
	Tenant   string            `json:"tenant_id,omitempty"`
	User     string            `json:"user_id,omitempty"`
	Payload  map[string]any    `json:"payload,omitempty"`
	Worker   *string           `json:"worker_id"`
	Lease    *time.Time        `json:"lease_expires_at"`
	Attempts int               `json:"attempts"`
	Result   map[string]any    `json:"result,omitempty"`
	Error    string            `json:"error,omitempty"`
	Items    []json.RawMessage `json:"items,omitempty"`
}

type server struct {
	mu       sync.Mutex
	token    string
	jobs     map[string]*job
	order    []string
	faults   []*fault
	requests []request
	journal  *os.File
}

// request is one call of the API as it arrived.
type request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Query   string            `json:"query"`
	Headers map[string]string `json:"headers"`
	Fault   string            `json:"fault,omitempty"`
}

// move changes a job's state and writes it down. The caller holds the lock.
func (s *server) move(j *job, to, worker string) {
	line, _ := json.Marshal(map[string]any{"job": j.ID, "from": j.Status, "to": to, "worker": worker})
	fmt.Fprintf(s.journal, "%s\n", line)
	j.Status = to
}

func (s *server) addJob(w http.ResponseWriter, r *http.Request) {
	j := &job{Type: "digest_via_fastreact", Status: "queued", Tenant: "pska", User: "user_primary"}
	if err := json.NewDecoder(r.Body).Decode(j); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[j.ID] = j
	s.order = append(s.order, j.ID)
	answer(w, http.StatusCreated, j)
}

func (s *server) showJobs(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer(w, http.StatusOK, s.jobs)
}

func (s *server) showRequests(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer(w, http.StatusOK, s.requests)
}

func (s *server) listJobs(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, kind := r.URL.Query().Get("status"), r.URL.Query().Get("job_type")
	listed := []*job{}
	for _, id := range s.order {
		j := s.jobs[id]
		if (status == "" || j.Status == status) && (kind == "" || j.Type == kind) {
			shown := *j
			shown.Items = nil
			listed = append(listed, &shown)
		}
	}
	sort.SliceStable(listed, func(a, b int) bool { return listed[a].Priority > listed[b].Priority })
	answer(w, http.StatusOK, map[string]any{"jobs": listed, "count": len(listed)})
}

func (s *server) lease(w http.ResponseWriter, r *http.Request) {
	var wish struct {
		Worker  string `json:"worker_id"`
		Seconds int    `json:"lease_seconds"`
	}
	j, ok := s.find(w, r, &wish)
	if !ok {
		return
	}
	defer s.mu.Unlock()
	now := time.Now()
	mine := j.Status == "running" && j.Worker != nil && *j.Worker == wish.Worker
	left := j.Status == "running" && j.Lease != nil && j.Lease.Before(now)
	switch {
	case j.Status == "queued" || left && !mine:
		s.move(j, "running", wish.Worker)
		j.Attempts++
	case !mine:
		refuse(w, http.StatusConflict, "job is "+j.Status)
		return
	}
	until := now.Add(time.Duration(wish.Seconds) * time.Second).UTC()
	j.Worker, j.Lease = &wish.Worker, &until
	shown := *j
	shown.Items = nil
	answer(w, http.StatusOK, map[string]any{"job": shown})
}

// find reads the body and the job, which it leaves locked. It answers itself when that fails.
func (s *server) find(w http.ResponseWriter, r *http.Request, body any) (*job, bool) {
	if err := json.NewDecoder(r.Body).Decode(body); err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return nil, false
	}
	s.mu.Lock()
	j := s.jobs[r.PathValue("id")]
	if j == nil {
		s.mu.Unlock()
		refuse(w, http.StatusNotFound, "no such job")
		return nil, false
	}
	return j, true
}

func (s *server) complete(w http.ResponseWriter, r *http.Request) {
	var done struct {
		Worker string         `json:"worker_id"`
		Result map[string]any `json:"result"`
	}
	j, ok := s.find(w, r, &done)
	if !ok {
		return
	}
	defer s.mu.Unlock()
	if j.Status != "running" || j.Worker == nil || *j.Worker != done.Worker {
		refuse(w, http.StatusConflict, "job is "+j.Status)
		return
	}
	s.move(j, "succeeded", done.Worker)
	j.Result = done.Result
	answer(w, http.StatusOK, map[string]any{"job": map[string]any{"id": j.ID, "status": j.Status}})
}

func (s *server) fail(w http.ResponseWriter, r *http.Request) {
	var failed struct {
		Worker    string `json:"worker_id"`
		Error     string `json:"error"`
		Retryable bool   `json:"retryable"`
	}
	j, ok := s.find(w, r, &failed)
	if !ok {
		return
	}
	defer s.mu.Unlock()
	if j.Status != "running" || j.Worker == nil || *j.Worker != failed.Worker {
		refuse(w, http.StatusConflict, "job is "+j.Status)
		return
	}
	to := "failed"
	if failed.Retryable && j.Attempts < maxAttempts {
		to = "queued"
	}
	s.move(j, to, failed.Worker)
	j.Error, j.Worker, j.Lease = failed.Error, nil, nil
	answer(w, http.StatusOK, map[string]any{"job": map[string]any{"id": j.ID, "status": j.Status}})
}

// batch gives a job's items in pages. The cursor is the position of the next item.
func (s *server) batch(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[r.PathValue("id")]
	if j == nil {
		refuse(w, http.StatusNotFound, "no such batch")
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if limit <= 0 || limit > 2 {
		limit = 2 // pages are small, so that every batch of some items has several
	}
	to := min(from+limit, len(j.Items))
	page := map[string]any{"items": j.Items[min(from, to):to], "next_cursor": nil, "has_more": to < len(j.Items)}
	if to < len(j.Items) {
		page["next_cursor"] = strconv.Itoa(to)
	}
	answer(w, http.StatusOK, page)
}
