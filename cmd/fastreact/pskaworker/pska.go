package pskaworker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const maxAnswer = 16 << 20 // bytes of one answer of PSKA

// pska calls the job API.
type pska struct {
	at     Endpoint
	base   string
	worker string
	lease  time.Duration
	http   *http.Client
	clock  func() time.Time
	asks   atomic.Int32 // which way of asking for jobs PSKA takes; an index into listings
}

func newPSKA(cfg Config) (*pska, error) {
	base, err := url.Parse(strings.TrimRight(cfg.PSKA.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("PSKA URL %q: use a form like http://127.0.0.1:8765", cfg.PSKA.URL)
	}
	caller := http.Client{}
	if cfg.PSKA.HTTP != nil {
		caller = *cfg.PSKA.HTTP
	}
	// A redirect would carry the token to another host.
	caller.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	caller.Timeout = max(time.Second, min(30*time.Second, cfg.Lease/2))
	return &pska{
		at: cfg.PSKA, base: base.String(), worker: cfg.WorkerID, lease: cfg.Lease, http: &caller, clock: time.Now,
	}, nil
}

// refusal is an answer of PSKA that is no success.
type refusal struct {
	status int
	text   string
	after  time.Duration // Retry-After
}

func (r *refusal) Error() string { return fmt.Sprintf("PSKA answered %d: %s", r.status, r.text) }

// statusOf returns the status of a refusal, 0 for any other error.
func statusOf(err error) int {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.status
	}
	return 0
}

// gone reports whether PSKA says that the job is not this worker's: another has it, or it is over.
func gone(err error) bool {
	switch statusOf(err) {
	case http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusLocked, http.StatusPreconditionFailed:
		return true
	}
	return false
}

// final reports whether trying again would not help.
func final(err error) bool {
	status := statusOf(err)
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly,
		http.StatusTooManyRequests:
		return false
	}
	return status >= 300 && status < 500
}

// take leases a job, or renews its lease, and returns the job as PSKA then shows it. Its error is gone when the job is
// not to be had.
func (p *pska) take(ctx context.Context, job Job) (Job, error) {
	raw, err := p.call(ctx, http.MethodPost, jobPath(job, "/lease"), job, map[string]any{
		"worker_id": p.worker, "lease_seconds": int(p.lease.Seconds()),
	})
	if err != nil {
		return Job{}, fmt.Errorf("lease job %s: %w", job.ID, err)
	}
	if !granted(raw) {
		return Job{}, fmt.Errorf("lease job %s: %w", job.ID, &refusal{status: http.StatusConflict, text: "not granted"})
	}
	shown, ok := readJob(raw)
	if !ok || shown.ID != job.ID {
		return job, nil
	}
	over := shown.Status == "succeeded" || shown.Status == "failed" || shown.Status == "canceled"
	if over || shown.Owner != "" && shown.Owner != p.worker {
		return Job{}, fmt.Errorf("lease job %s: %w", job.ID, &refusal{status: http.StatusConflict, text: "not ours"})
	}
	return job.with(shown), nil
}

// granted reads an answer that says no although its status says yes.
func granted(raw json.RawMessage) bool {
	var said map[string]any
	if json.Unmarshal(raw, &said) != nil {
		return true
	}
	for _, key := range []string{"leased", "acquired", "granted", "ok", "success"} {
		if said[key] == false {
			return false
		}
	}
	return true
}

// with returns the job with what a newer look at it says.
func (j Job) with(newer Job) Job {
	if newer.Type == "" && newer.Status == "" {
		return j // an answer about the lease only
	}
	if newer.Tenant == "" {
		newer.Tenant = j.Tenant
	}
	if newer.User == "" {
		newer.User = j.User
	}
	if newer.Batch == newer.ID {
		newer.Batch = j.Batch
	}
	newer.Cursor, newer.Generation = cmp.Or(newer.Cursor, j.Cursor), cmp.Or(newer.Generation, j.Generation)
	if len(newer.Scope) == 0 {
		newer.Scope = j.Scope
	}
	if newer.Budget == nil {
		newer.Budget = j.Budget
	}
	return newer
}

func jobPath(job Job, rest string) string { return "/jobs/" + url.PathEscape(job.ID) + rest }

// call sends one request on behalf of the job's user and returns the answer's JSON.
func (p *pska) call(ctx context.Context, method, path string, job Job, body any) (json.RawMessage, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, content)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	p.sign(request, job)
	response, err := p.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call PSKA: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case response.StatusCode/100 != 2:
		return nil, refusalOf(response, text)
	case err != nil:
		return nil, fmt.Errorf("read PSKA's answer: %w", err)
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("read PSKA's answer: longer than %d bytes", maxAnswer)
	}
	return text, nil
}

// sign says who calls, and for whom.
func (p *pska) sign(request *http.Request, job Job) {
	request.Header.Set("Accept", "application/json")
	if request.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("X-PSKA-Caller", p.at.Caller)
	request.Header.Set("X-PSKA-Tenant-Id", cmp.Or(job.Tenant, p.at.Tenant))
	request.Header.Set("X-PSKA-User-Id", cmp.Or(job.User, p.at.User))
	if p.at.Token != "" {
		request.Header.Set("X-PSKA-Service-Token", p.at.Token)
	}
}

func refusalOf(response *http.Response, text []byte) *refusal {
	const shown = 200
	refused := &refusal{status: response.StatusCode, text: string(text[:min(len(text), shown)])}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		refused.after = time.Duration(seconds) * time.Second
	}
	return refused
}
