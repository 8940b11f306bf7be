package chat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// book is an engine and its records in memory. play is what happens in a run; its context ends when the run is
// cancelled.
type book struct {
	play    func(ctx context.Context, b *book, r run.Run)
	refusal error // of Chat
	broken  error // of Events

	mu        sync.Mutex
	runs      []run.Run
	events    map[run.Ref][]run.Event
	watchers  map[chan struct{}]run.Ref
	stops     map[run.Ref]context.CancelFunc
	cancelled []string // "run reason", as they came
	feedback  []run.Feedback
	plays     sync.WaitGroup
}

func newBook(play func(context.Context, *book, run.Run)) *book {
	return &book{
		play: play, events: map[run.Ref][]run.Event{}, watchers: map[chan struct{}]run.Ref{},
		stops: map[run.Ref]context.CancelFunc{},
	}
}

func (b *book) Chat(_ context.Context, request run.Request) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refusal != nil {
		return run.Run{}, b.refusal
	}
	r := run.Run{
		Ref: run.Ref{Tenant: run.TenantKey(request.Identity.TenantKey), ID: request.ID}, SessionID: request.SessionID,
		Kind: request.Kind, Status: run.Running, Request: request,
	}
	ctx, stop := context.WithCancel(context.Background())
	b.runs, b.stops[r.Ref] = append(b.runs, r), stop
	if b.play != nil {
		b.plays.Go(func() { b.play(ctx, b, r) })
	}
	return r, nil
}

func (b *book) Cancel(_ context.Context, ref run.Ref, reason string, _ run.Idempotency) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancelled = append(b.cancelled, ref.ID+" "+reason)
	r := b.find(ref)
	if r == nil {
		return run.Run{}, errors.New("no such run")
	}
	if !r.Status.Terminal() {
		r.Status, r.Cancel = run.Cancelled, reason
		b.stops[ref]()
		b.append(ref, run.Event{
			Kind: run.Errored, Content: "Run cancelled", Metadata: json.RawMessage(`{"code":"cancelled"}`),
		})
	}
	return *r, nil
}

// add appends events to a run that is not over.
func (b *book) add(r run.Run, events ...run.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.find(r.Ref).Status.Terminal() {
		return
	}
	b.append(r.Ref, events...)
}

func (b *book) append(ref run.Ref, events ...run.Event) {
	r := b.find(ref)
	for _, e := range events {
		e.Ref, e.SessionID, e.Sequence = ref, r.SessionID, r.NextSeq
		b.events[ref] = append(b.events[ref], e)
		r.NextSeq++
		switch e.Kind {
		case run.SessionEnd:
			r.Status = run.Completed
		case run.Errored:
			if r.Status != run.Cancelled {
				r.Status = run.Failed
			}
		}
	}
	for watcher, watched := range b.watchers {
		if watched != ref {
			continue
		}
		select {
		case watcher <- struct{}{}:
		default:
		}
	}
}

func (b *book) find(ref run.Ref) *run.Run {
	for i := range b.runs {
		if b.runs[i].Ref == ref {
			return &b.runs[i]
		}
	}
	return nil
}

func (b *book) Run(_ context.Context, ref run.Ref) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.find(ref); r != nil {
		return *r, nil
	}
	return run.Run{}, &run.Error{Code: run.CodeNotFound, Sentence: "There is no such run."}
}

func (b *book) Runs(_ context.Context, filter run.Filter) (page run.Page[run.Run], err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if (filter.Tenant == nil || *filter.Tenant == r.Tenant) && filter.ID == r.ID && filter.SessionID == r.SessionID &&
			(filter.UserKey == "" || filter.UserKey == r.Request.Identity.UserKey) {
			page.Items = append(page.Items, r)
		}
	}
	return page, nil
}

func (b *book) Events(_ context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, b.broken
	}
	events := b.events[ref]
	events = events[min(int(after)+1, len(events)):]
	return slices.Clone(events[:min(limit, len(events))]), nil
}

func (b *book) Watch(ref run.Ref) (<-chan struct{}, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	watcher := make(chan struct{}, 1)
	b.watchers[watcher] = ref
	return watcher, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, watcher)
	}
}

func (b *book) Feedback(_ context.Context, said run.Feedback) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.feedback = append(b.feedback, said)
	return b.refusal
}

// stored lists the runs as they are, and what was cancelled.
func (b *book) stored() (runs []run.Run, cancelled []string) {
	b.plays.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.runs), slices.Clone(b.cancelled)
}

// crew works at once on what it has room for; with begin it waits to be told.
type crew struct {
	room  chan struct{}
	begin chan struct{} // may be nil
}

func newCrew(size int) *crew { return &crew{room: make(chan struct{}, size)} }

func (c *crew) Do(ctx context.Context, work func(context.Context) error) error {
	select {
	case c.room <- struct{}{}:
	default:
		return errors.New("full")
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-c.room }()
		done <- c.work(ctx, work)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *crew) work(ctx context.Context, work func(context.Context) error) (err error) {
	defer func() {
		if recover() != nil { // as the executor does
			err = errors.New("panic")
		}
	}()
	if c.begin == nil {
		return work(ctx)
	}
	select {
	case <-c.begin:
		return work(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// served is the face over b, with what may be adjusted.
func served(t *testing.T, b *book, change ...func(*Config, *web.Config)) http.Handler {
	t.Helper()
	cfg := Config{
		Engine: b, Records: b, Feedback: b, Worker: newCrew(8), StreamTimeout: 150 * time.Second,
		RunTimeout: 120 * time.Second, MaxRequestBytes: 1024,
	}
	door := web.Config{Authorities: []string{"example.com"}}
	for _, c := range change {
		c(&cfg, &door)
	}
	handler, err := web.New(door, New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// post sends a body and returns the whole answer.
func post(ctx context.Context, handler http.Handler, path, body string, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

const hello = `{"query":"Why is checkout slow?","session_id":"s-1","user_key":"pska:ann"}`

// named replaces the id of the one run, which is new each time.
func named(t *testing.T, b *book, body string) string {
	t.Helper()
	runs, _ := b.stored()
	for _, r := range runs {
		body = strings.ReplaceAll(strings.ReplaceAll(body, r.ID, "RUN"), r.SessionID, "SESSION")
	}
	return body
}

// frames of the protocol, as they leave.
func frame(event, data string) string { return "event: " + event + "\ndata: " + data + "\n\n" }

func statusFrame(code statusCode) string {
	return frame("status", `{"code":"`+string(code)+`","message":"`+code.message()+`"}`)
}

func failureFrame(code failureCode) string {
	return frame("failure", `{"code":"`+string(code)+`","message":"`+code.message()+`"}`)
}

const metadataFrame = "event: metadata\ndata: {\"session_id\":\"SESSION\",\"run_id\":\"RUN\"}\n\n"

const reportJSON = `{"summary":"The pool is exhausted.","findings":[{"statement":"Connections stood at 50.",` +
	`"severity":"critical","evidence_ids":["m-1"]}],"likely_cause":"A leak.","recommended_actions":["Restart it."],` +
	`"evidence":[{"evidence_id":"m-1","source":"prometheus","title":"Connections","observed_at":"2026-06-11T00:00:00Z"}]}`

func ended(typ, payload string) run.Event {
	return run.Event{Kind: run.SessionEnd, Content: `{"content_type":"` + typ + `","payload":` + payload + `}`}
}

func review(stage string) run.Event {
	return run.Event{Kind: run.AnswerReview, Metadata: json.RawMessage(`{"stage":"` + stage + `","round":1}`)}
}

// diagnosed plays a diagnosis with two calls in one step.
func diagnosed(end ...run.Event) func(context.Context, *book, run.Run) {
	return func(_ context.Context, b *book, r run.Run) {
		b.add(
			r, run.Event{Kind: run.SessionStart, Metadata: json.RawMessage(`{"profile":"diagnosis"}`)},
			run.Event{Kind: run.Think, Content: "a thought"},
			run.Event{Kind: run.ToolCalled, ToolName: "query_metrics", ToolCallID: "1"},
			run.Event{Kind: run.ToolCalled, ToolName: "query_logs", ToolCallID: "2"},
			run.Event{Kind: run.StepEnd},
			run.Event{Kind: run.ToolResult, ToolCallID: "2"}, run.Event{Kind: run.ToolResult, ToolCallID: "1"},
		)
		b.add(r, append([]run.Event{review("verifying")}, end...)...)
	}
}
