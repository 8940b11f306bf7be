package pskaworker

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

const listLimit = 100 // jobs asked for at once

// listings are the ways to ask for jobs of one status, the narrowest first. A PSKA that refuses parameters it does not
// know is asked with fewer.
func listings(status string) []url.Values {
	return []url.Values{
		{"job_type": {digestType}, "status": {status}, "limit": {strconv.Itoa(listLimit)}},
		{"job_type": {digestType}, "status": {status}},
		{},
	}
}

// jobs lists what may be leased, the most urgent first: what is queued, and what other workers have left behind.
func (p *pska) jobs(ctx context.Context) ([]Job, error) {
	all, err := p.list(ctx, "queued")
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	left, err := p.list(ctx, "running")
	if err != nil && !final(err) { // a refusal: what other workers left behind is not shown
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return due(append(all, left...), p.clock()), nil
}

// list asks for the jobs of one status, and finds out how PSKA wants to be asked. Asked with no parameters it shows
// jobs of every status, so that the first list is enough.
func (p *pska) list(ctx context.Context, status string) ([]Job, error) {
	ways := listings(status)
	for way := int(p.asks.Load()); ; way++ {
		if len(ways[way]) == 0 && status != "queued" {
			return nil, nil
		}
		raw, err := p.call(ctx, http.MethodGet, withQuery("/jobs", ways[way]), Job{}, nil)
		switch {
		case malformed(err) && status == "queued" && way+1 < len(ways):
			continue
		case err != nil:
			return nil, err
		}
		p.asks.Store(int32(way))
		return readJobs(raw), nil
	}
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// malformed reports whether PSKA does not know a parameter or a field of the request.
func malformed(err error) bool {
	status := statusOf(err)
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

func (p *pska) complete(ctx context.Context, job Job, result map[string]any) error {
	return p.report(ctx, job, "/complete", map[string]any{"result": result})
}

// fail reports a failure, and whether PSKA may try again.
func (p *pska) fail(ctx context.Context, job Job, why failure) error {
	return p.report(ctx, job, "/fail", map[string]any{"error": why.Error(), "retryable": why.retryable})
}

// report sends the end of a job with the name of the worker, and without to a PSKA that does not know that field.
func (p *pska) report(ctx context.Context, job Job, path string, said map[string]any) error {
	named := maps.Clone(said)
	named["worker_id"] = p.worker
	_, err := p.call(ctx, http.MethodPost, jobPath(job, path), job, named)
	if malformed(err) {
		_, err = p.call(ctx, http.MethodPost, jobPath(job, path), job, said)
	}
	return err
}
