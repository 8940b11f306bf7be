package fastreact

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

const token = "service-token-of-the-test"

// dawn is when everything in these tests begins.
var dawn = time.Date(2026, 6, 11, 0, 0, 0, 0, time.UTC)

// book is an engine and its records in memory. play writes what happens in a run.
type book struct {
	play    func(connection context.Context, b *book, r run.Run)
	refusal error         // of Chat and Submit
	broken  error         // of Events
	repeats string        // the id of the run that every chat asks for again
	left    chan struct{} // holds a value when a reader stopped watching

	keys     keyring
	mu       sync.Mutex
	runs     []run.Run
	events   map[run.Ref][]run.Event
	watchers map[chan struct{}]run.Ref
	asked    []run.Request
	read     map[run.Ref]int64 // up to where a reader has asked
	quiet    bool              // nobody is told of changes
}

func newBook(play func(context.Context, *book, run.Run)) *book {
	return &book{
		play: play, left: make(chan struct{}, 100),
		events: map[run.Ref][]run.Event{}, watchers: map[chan struct{}]run.Ref{}, read: map[run.Ref]int64{},
	}
}

func (b *book) Chat(connection context.Context, request run.Request) (run.Run, error) {
	if b.repeats != "" {
		return b.Run(connection, run.Ref{Tenant: run.TenantKey(request.Identity.TenantKey), ID: b.repeats})
	}
	r, err := b.create(request, run.Running)
	if err == nil && b.play != nil {
		go b.play(connection, b, r)
	}
	return r, err
}

func (b *book) Submit(_ context.Context, request run.Request) (run.Run, error) {
	return b.create(request, run.Queued)
}

func (b *book) create(request run.Request, status run.Status) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, request)
	if b.refusal != nil {
		return run.Run{}, b.refusal
	}
	r := run.Run{
		Ref: run.Ref{Tenant: run.TenantKey(request.Identity.TenantKey), ID: request.ID}, SessionID: request.SessionID,
		Kind: request.Kind, Status: status, Request: request, CreatedAt: dawn,
	}
	for _, other := range b.runs {
		if other.Ref == r.Ref {
			return run.Run{}, &run.Error{Code: run.CodeRunExists, Sentence: "Run already exists"}
		}
	}
	b.runs = append(b.runs, r)
	return r, nil
}

func (b *book) Cancel(_ context.Context, ref run.Ref, reason string, key run.Idempotency) (run.Run, error) {
	if err := b.keys.take(key); err != nil {
		return run.Run{}, err
	}
	r, err := b.Run(context.Background(), ref)
	if err != nil || r.Status.Terminal() {
		return r, err
	}
	metadata, err := json.Marshal(map[string]string{"error_type": "CancelledError", "reason": reason})
	if err != nil {
		return r, err
	}
	b.add(ref, run.Event{Kind: run.Errored, Content: "Run cancelled", Metadata: metadata})
	b.finish(ref, run.Cancelled, run.Outcome{Error: "Run cancelled", ErrorCode: "cancelled"})
	return b.Run(context.Background(), ref)
}

// add appends events to a run and tells its watchers.
func (b *book) add(ref run.Ref, events ...run.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.find(ref)
	for _, e := range events {
		e.Ref, e.SessionID, e.Sequence = ref, r.SessionID, r.NextSeq
		e.Time = dawn.Add(time.Duration(r.NextSeq) * 1500 * time.Microsecond)
		b.events[ref] = append(b.events[ref], e)
		r.NextSeq++
	}
	b.tell(ref)
}

func (b *book) finish(ref run.Ref, status run.Status, outcome run.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ended := b.find(ref), dawn.Add(1234560*time.Microsecond)
	r.Status, r.Outcome, r.FinishedAt, r.StartedAt = status, outcome, &ended, &r.CreatedAt
	b.tell(ref)
}

// change changes the record of a run.
func (b *book) change(ref run.Ref, how func(*run.Run)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	how(b.find(ref))
}

// await returns when a reader has seen all there is: it watches and took its notice.
func (b *book) await() {
	for !b.seen() {
		runtime.Gosched()
	}
}

func (b *book) seen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for watcher, ref := range b.watchers {
		r := b.find(ref)
		if len(watcher) == 0 && r != nil && b.read[ref] >= r.NextSeq {
			return true
		}
	}
	return false
}

// silently does something without telling the watchers.
func (b *book) silently(do func()) {
	b.hush(true)
	defer b.hush(false)
	do()
}

func (b *book) hush(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.quiet = on
}

// breakDown makes the events unreadable, or readable again.
func (b *book) breakDown(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = err
}

func (b *book) find(ref run.Ref) *run.Run {
	for i := range b.runs {
		if b.runs[i].Ref == ref {
			return &b.runs[i]
		}
	}
	return nil
}

func (b *book) tell(ref run.Ref) {
	if b.quiet {
		return
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

func (b *book) Run(_ context.Context, ref run.Ref) (run.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.find(ref); r != nil {
		return *r, nil
	}
	return run.Run{}, &run.Error{Code: run.CodeNotFound, Sentence: "There is no such run."}
}

func (b *book) Runs(_ context.Context, filter run.Filter) (run.Page[run.Run], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []run.Run
	for _, r := range slices.Backward(b.runs) {
		if (filter.Tenant == nil || *filter.Tenant == r.Tenant) && (filter.ID == "" || filter.ID == r.ID) &&
			(filter.Status == "" || filter.Status == r.Status) &&
			(filter.SessionID == "" || filter.SessionID == r.SessionID) {
			found = append(found, r)
		}
	}
	return run.Page[run.Run]{Items: found[:min(len(found), filter.Limit)], Total: len(found)}, nil
}

func (b *book) Events(_ context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, b.broken
	}
	if r := b.find(ref); r != nil && after+1 < r.FirstSeq {
		return nil, &run.Error{Code: run.CodeCompacted, Sentence: "They are gone."}
	}
	b.read[ref] = max(b.read[ref], after+1)
	events := b.events[ref]
	if r := b.find(ref); len(events) > 0 && events[len(events)-1].Kind.Terminal() && !r.Status.Terminal() {
		events = events[:len(events)-1] // the ledger commits it with the end of the run
	}
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
		b.left <- struct{}{}
	}
}

// desk is a desk in memory that knows one approval.
type desk struct {
	approval run.Approval
	failure  error
	filters  []run.ApprovalFilter
	keys     keyring
	answer   run.Answer // the last
}

// keyring remembers the keys of changes, as the ledger does. It belongs to one goroutine.
type keyring map[string]string

func (k *keyring) take(key run.Idempotency) error {
	if *k == nil {
		*k = keyring{}
	}
	if digest, used := (*k)[key.Key]; key.Key != "" && used && digest != key.Digest {
		return &run.Error{Code: run.CodeKeyReused, Sentence: "The key was used for something else."}
	}
	(*k)[key.Key] = key.Digest
	return nil
}

func (d *desk) Get(_ context.Context, id string) (run.Approval, error) {
	if id != d.approval.ID {
		return run.Approval{}, &run.Error{Code: run.CodeNotFound, Sentence: "There is no such approval."}
	}
	return d.approval, nil
}

func (d *desk) List(_ context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error) {
	d.filters = append(d.filters, filter)
	if filter.Status != "" && filter.Status != d.approval.Status || filter.Offset > 0 {
		return run.Page[run.Approval]{}, nil
	}
	return run.Page[run.Approval]{Items: []run.Approval{d.approval}[:min(1, filter.Limit)], Total: 1}, nil
}

func (d *desk) Answer(ctx context.Context, answer run.Answer) (run.Approval, error) {
	if _, err := d.Get(ctx, answer.ID); err != nil || d.failure != nil {
		if err == nil {
			err = d.failure
		}
		return run.Approval{}, err
	}
	if err := d.keys.take(answer.Idempotency); err != nil {
		return run.Approval{}, err
	}
	d.answer, d.approval.Choice = answer, answer.Choice
	d.approval.Status, d.approval.Resolution = run.Denied, answer.Reason
	if answer.Approve {
		d.approval.Status = run.Approved
	}
	at := dawn.Add(time.Minute)
	d.approval.ResolvedAt, d.approval.ResolvedBy = &at, answer.By
	return d.approval, nil
}

// inspector answers what it was given.
type inspector struct {
	ready    ReadyReport
	tools    []run.Tool
	policy   Policy
	decision run.Decision
	probe    Probe
	stats    Stats
	counted  run.Filter
}

func (i *inspector) Ready(context.Context) ReadyReport { return i.ready }
func (i *inspector) Tools(context.Context) []run.Tool  { return i.tools }
func (i *inspector) Policy() Policy                    { return i.policy }
func (i *inspector) Stats(_ context.Context, of run.Filter) (Stats, error) {
	i.counted = of
	return i.stats, nil
}

func (i *inspector) DryRun(_ context.Context, probe Probe) (run.Decision, error) {
	i.probe = probe
	return i.decision, nil
}

// parseAny takes any tool policy whose mode is known.
func parseAny(raw any) (run.ToolPolicy, []web.FieldError) {
	object, _ := raw.(map[string]any)
	mode, _ := object["mode"].(string)
	if mode != "none" && mode != "allowlist" {
		return run.ToolPolicy{}, []web.FieldError{{Type: "literal_error", Loc: []any{"mode"}, Msg: "unknown mode"}}
	}
	return run.ToolPolicy{Mode: run.ToolMode(mode)}, nil
}

// open serves the face over b. change may adjust both configurations.
func open(t *testing.T, b *book, change ...func(*Config, *web.Config)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler(t, b, change...))
	t.Cleanup(server.Close)
	return server
}

func handler(t *testing.T, b *book, change ...func(*Config, *web.Config)) http.Handler {
	t.Helper()
	cfg := Config{
		Engine: b, Records: b, Desk: &desk{}, Inspector: &inspector{}, Version: "1.2.3", Model: "demo-model",
		Poll: 20 * time.Millisecond, ParseToolPolicy: parseAny, Prometheus: true,
	}
	door := web.Config{}
	for _, c := range change {
		c(&cfg, &door)
	}
	h, err := web.New(door, New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// call sends a request and returns status, header and whole body of the answer.
func call(t *testing.T, server *httptest.Server, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(raw)
}

// get reads a JSON answer with status 200.
func get(t *testing.T, server *httptest.Server, path string, header ...string) map[string]any {
	t.Helper()
	response, body := call(t, server, "GET", path, "", header...)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, response.StatusCode, body)
	}
	return object(t, body)
}

func object(t *testing.T, body string) map[string]any {
	t.Helper()
	var decoded map[string]any
	if err := json.Unmarshal([]byte(body), &decoded); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return decoded
}

// code returns status and error code of a refusal.
func code(t *testing.T, response *http.Response, body string) (int, string) {
	t.Helper()
	var refusal struct{ Error struct{ Code string } }
	if err := json.Unmarshal([]byte(body), &refusal); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return response.StatusCode, refusal.Error.Code
}

const question = `{"messages":[{"role":"user","content":"Question"}],"session_id":"s-1","user_key":"pska:user_primary",` +
	`"metadata":{"run_id":"run-1"}`

// searched plays a run with one tool call.
func searched(_ context.Context, b *book, r run.Run) {
	took := 12340 * time.Microsecond
	args := json.RawMessage(`{"query":"Question","top_k":5.0}`)
	b.add(r.Ref, run.Event{Kind: run.SessionStart, Content: "Question", Metadata: json.RawMessage(`{"skills":null}`)})
	b.add(r.Ref,
		run.Event{Kind: run.ToolCalled, ToolName: "pska_pska_search", ToolArgs: args, ToolCallID: "call-1"},
		run.Event{
			Kind: run.ToolResult, Content: "found\u0085it", ToolName: "pska_pska_search", ToolArgs: args,
			ToolCallID: "call-1", Duration: &took, Citations: []string{"src-1"},
		})
	b.add(r.Ref, run.Event{
		Kind: run.SessionEnd, Content: "[The] answer",
		Metadata: json.RawMessage(`{"llm_usage_total":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`),
	})
	b.finish(r.Ref, run.Completed, run.Outcome{
		Answer: "[The] answer", Usage: &run.Usage{PromptTokens: 3, CompletionTokens: 2, TotalTokens: 5},
		ToolCalls: map[string]int{"pska_pska_search": 1}, PolicyHash: "sha256:p",
	})
}
