package fastreact

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Limits of lists.
const (
	defaultLimit = 200
	maxLimit     = 1000
)

// limitOf reads ?limit. More than the maximum, and 0, mean the maximum.
func limitOf(query url.Values) (int, error) {
	limit, err := numberOf(query, "limit", defaultLimit)
	if err != nil {
		return 0, err
	}
	if limit == 0 || limit > maxLimit {
		return maxLimit, nil
	}
	return int(limit), nil
}

// numberOf reads a number that is not negative.
func numberOf(query url.Values, key string, otherwise int64) (int64, error) {
	text := query.Get(key)
	if text == "" {
		return otherwise, nil
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, web.Invalid(web.FieldError{
			Type: "int_parsing", Loc: []any{"query", key}, Msg: "Input should be a valid integer", Input: text,
		})
	}
	if number < 0 {
		return 0, web.BadRequest("invalid_"+key, key+" must not be negative.")
	}
	return number, nil
}

// afterSequence reads ?after_sequence; absent and -1 mean from the start.
func afterSequence(query url.Values) (int64, error) {
	text := query.Get("after_sequence")
	if text == "" {
		return -1, nil
	}
	after, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, web.Invalid(web.FieldError{
			Type: "int_parsing", Loc: []any{"query", "after_sequence"}, Msg: "Input should be a valid integer", Input: text,
		})
	}
	if after < -1 {
		return 0, web.BadRequest("invalid_after_sequence", "after_sequence must be -1 or more.")
	}
	return after, nil
}

// wordOf reads a query value that must be one of the words.
func wordOf(query url.Values, key string, valid func(string) bool) (string, error) {
	word := query.Get(key)
	if word == "" || valid(word) {
		return word, nil
	}
	return "", web.Invalid(web.FieldError{
		Type: "literal_error", Loc: []any{"query", key}, Msg: "Input is not a known " + key, Input: word,
	})
}

func runStatus(word string) bool {
	switch run.Status(word) {
	case run.Queued, run.Running, run.Completed, run.Failed, run.Cancelled:
		return true
	}
	return false
}

// lookUp finds the run of the path within the caller's view. Ids are unique within a tenant only.
func (f *face) lookUp(x *web.Exchange, absent string) (run.Run, error) {
	seen, err := x.View()
	if err != nil {
		return run.Run{}, err
	}
	filter := run.Filter{ID: x.Var("run_id"), Tenant: seen.Tenant, UserKey: seen.User, Limit: 2}
	page, err := f.cfg.Records.Runs(x.Request.Context(), filter)
	if err == nil && len(page.Items) > 1 && namesNoTenant(x) {
		filter.Tenant = new(run.TenantKey)
		page, err = f.cfg.Records.Runs(x.Request.Context(), filter)
	}
	switch {
	case err != nil:
		return run.Run{}, err
	case len(page.Items) == 0:
		return run.Run{}, notFound(absent)
	case len(page.Items) > 1:
		return run.Run{}, &web.Refusal{
			Status: http.StatusConflict, Code: "ambiguous_run_id",
			Sentence: "Several tenants have a run with this id. Name one with X-FastReAct-Tenant-Key; " +
				"left empty, it names the run without a tenant.",
		}
	}
	return page.Items[0], nil
}

// namesNoTenant reports whether a caller that may speak for anyone sends the tenant's header and leaves it empty: of
// several runs with one id it means the one that has no tenant.
func namesNoTenant(x *web.Exchange) bool {
	return x.Caller.SpeaksForAnyone() && len(x.Request.Header.Values(web.TenantHeader)) > 0
}

// runPage reads the runs that a list asks for.
func (f *face) runPage(x *web.Exchange) (page run.Page[run.Run], limit int, err error) {
	query := x.Request.URL.Query()
	if limit, err = limitOf(query); err != nil {
		return page, 0, err
	}
	status, err := wordOf(query, "status", runStatus)
	if err != nil {
		return page, 0, err
	}
	seen, err := x.View()
	if err != nil {
		return page, 0, err
	}
	page, err = f.cfg.Records.Runs(x.Request.Context(), run.Filter{
		Tenant: seen.Tenant, UserKey: seen.User, Status: run.Status(status), SessionID: query.Get("session_id"),
		Limit: limit,
	})
	return page, limit, err
}

type runList struct {
	Runs       []wireRun `json:"runs"`
	Count      int       `json:"count"`
	TotalCount int       `json:"total_count"`
	Limit      int       `json:"limit"`
	HasMore    bool      `json:"has_more"`
}

func (f *face) listRuns(x *web.Exchange) error {
	page, limit, err := f.runPage(x)
	if err != nil {
		return err
	}
	list := runList{[]wireRun{}, len(page.Items), page.Total, limit, page.Total > len(page.Items)}
	for _, r := range page.Items {
		list.Runs = append(list.Runs, toRun(r))
	}
	return x.JSON(http.StatusOK, list)
}

type eventList struct {
	RunID             string      `json:"run_id"`
	SessionID         string      `json:"session_id"`
	Status            string      `json:"status"`
	Events            []wireEvent `json:"events"`
	Count             int         `json:"count"`
	EventCount        int64       `json:"event_count"`
	TotalEventCount   int64       `json:"total_event_count"`
	AfterSequence     int64       `json:"after_sequence"`
	NextAfterSequence int64       `json:"next_after_sequence"`
	HasMore           bool        `json:"has_more"`
}

func (f *face) runEvents(x *web.Exchange) error   { return f.listEvents(x, "Run not found") }
func (f *face) traceEvents(x *web.Exchange) error { return f.listEvents(x, "Trace events not found") }

func (f *face) listEvents(x *web.Exchange, absent string) error {
	query := x.Request.URL.Query()
	limit, err := limitOf(query)
	if err != nil {
		return err
	}
	after, err := afterSequence(query)
	if err != nil {
		return err
	}
	r, err := f.lookUp(x, absent)
	if err != nil {
		return err
	}
	list, err := f.eventPage(x.Request.Context(), r, after, limit)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, list)
}

// eventPage reads one page. The run was read first, so events may have come since: the counts follow them.
func (f *face) eventPage(ctx context.Context, r run.Run, after int64, limit int) (eventList, error) {
	if err := compacted(r, after); err != nil {
		return eventList{}, err
	}
	events, err := f.cfg.Records.Events(ctx, r.Ref, after, limit)
	if err != nil {
		return eventList{}, f.nowCompacted(ctx, r.Ref, err)
	}
	next, total := after, r.NextSeq
	if len(events) > 0 {
		next = lastOf(events).Sequence
		total = max(total, next+1)
	}
	return eventList{
		RunID: r.ID, SessionID: r.SessionID, Status: string(r.Status), Events: toEvents(events), Count: len(events),
		EventCount: total, TotalEventCount: total, AfterSequence: after, NextAfterSequence: next,
		HasMore: next < total-1,
	}, nil
}

// compacted refuses a reader whose next event is not kept any more. What is left would look whole.
func compacted(r run.Run, after int64) error {
	if after >= r.FirstSeq-1 {
		return nil
	}
	return &web.Refusal{
		Status: status(run.CodeCompacted), Code: string(run.CodeCompacted), First: &r.FirstSeq,
		Sentence: fmt.Sprintf("The events before %d are not kept any more.", r.FirstSeq),
	}
}

// nowCompacted adds to the error of a reader whose next event went between two looks where the rest begins.
func (f *face) nowCompacted(ctx context.Context, ref run.Ref, err error) error {
	if !run.IsCode(err, run.CodeCompacted) {
		return err
	}
	r, failed := f.cfg.Records.Run(ctx, ref)
	if failed != nil {
		return failed
	}
	return compacted(r, -1)
}
