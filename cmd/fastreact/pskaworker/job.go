package pskaworker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// What PSKA calls the jobs of this worker, and the worker.
const (
	digestType   = "digest_via_fastreact"
	digestCaller = "pska_digest_worker"
)

// Job is one entry of PSKA's queue.
type Job struct {
	ID         string
	Type       string
	Status     string
	Priority   float64
	Due        time.Time // zero: at once
	Tenant     string
	User       string
	Batch      string // id of the batch; the job's own when the entry names none
	Cursor     string // where the batch begins
	Generation string // grows when PSKA wants the job done anew; may be empty
	Owner      string // of the lease
	LeaseEnds  time.Time
	Scope      map[string]any // knowledge_base_ids and source_item_ids, as the entry bounds them
	Budget     map[string]any // tool_budget, as the entry sets it
}

// readJob reads an entry. Fields may stand at its top or in its payload.
func readJob(raw json.RawMessage) (Job, bool) {
	e, ok := readEntry(raw)
	if !ok {
		return Job{}, false
	}
	j := Job{
		ID: e.text("job_id", "id"), Type: e.text("job_type", "type", "kind"),
		Status: strings.ToLower(e.text("status", "state")), Priority: e.priority(),
		Due:    e.moment("run_after", "available_at", "due_at", "not_before", "scheduled_at", "scheduled_for", "next_run_at"),
		Tenant: e.text("tenant_id", "tenant_key", "tenant"),
		User:   e.text("represented_user_id", "pska_user_id", "user_id", "owner_user_id"),
		Batch:  e.text("batch_id", "digest_batch_id"), Cursor: e.text("cursor"), Generation: e.text("generation"),
		Owner: e.text("lease_owner", "leased_by", "locked_by", "worker_id"), LeaseEnds: e.moment("lease_expires_at", "lease_until", "leased_until", "lease_expires"),
		Scope: e.scope(), Budget: e.object("tool_budget"),
	}
	j.Batch = cmp.Or(j.Batch, j.ID)
	return j, j.ID != ""
}

// readJobs reads a list of entries, whichever way it is wrapped. Entries that are no jobs are left out.
func readJobs(raw json.RawMessage) []Job {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var wrapped map[string]json.RawMessage
		if json.Unmarshal(raw, &wrapped) != nil {
			return nil
		}
		for _, key := range []string{"jobs", "items", "results", "data"} {
			if json.Unmarshal(wrapped[key], &list) == nil && list != nil {
				break
			}
		}
	}
	var jobs []Job
	for _, entry := range list {
		if job, ok := readJob(entry); ok {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// open reports whether the job may be leased: queued and due, or left behind by a worker whose lease is over.
func (j Job) open(now time.Time) bool {
	if j.Type != digestType {
		return false
	}
	switch j.Status {
	case "queued", "pending":
		return !j.Due.After(now)
	case "running", "leased":
		return !j.LeaseEnds.IsZero() && j.LeaseEnds.Before(now)
	}
	return false
}

// due returns the jobs that may be leased, each once, the most urgent first.
func due(jobs []Job, now time.Time) []Job {
	seen := map[string]bool{}
	var open []Job
	for _, job := range jobs {
		if job.open(now) && !seen[job.ID] {
			seen[job.ID] = true
			open = append(open, job)
		}
	}
	slices.SortStableFunc(open, func(a, b Job) int { return cmp.Compare(b.Priority, a.Priority) })
	return open
}

// fingerprint tells jobs apart that have the same plain id, and tells a job that is to be done anew from the old one.
func (j Job) fingerprint() string {
	sum := sha256.New()
	for _, part := range []string{j.Tenant, j.ID, j.Generation, j.Cursor} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// longestPlain bounds the readable part of a run's id.
const longestPlain = 64

// plain keeps what a run's id may hold.
func plain(id string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, id)
	return kept[:min(len(kept), longestPlain)]
}
