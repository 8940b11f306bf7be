package pskaworker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk/client"
)

// near is a transport that calls a handler instead of a network, so that time may be the test's own.
type near struct{ http.Handler }

func (n near) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	n.ServeHTTP(recorder, request)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// world is a PSKA and a service in memory, and the settings of the worker between them.
type world struct {
	t      *testing.T
	config Config

	mu       sync.Mutex
	jobs     []string                                // bodies of the entries that are listed
	answers  map[string]func() (int, string)         // of PSKA, by method and path; 200 {} otherwise
	follow   func(r *http.Request, id string) string // type of a run's last event
	statuses map[string]string                       // of runs, by id
	stops    map[string]string                       // stop reasons of runs, by id; "stop" otherwise
	calls    []string                                // of both, method and path
	bodies   map[string]string                       // last body by method and path
}

func newWorld(t *testing.T, jobs ...string) *world {
	w := &world{
		t: t, jobs: jobs, answers: map[string]func() (int, string){}, statuses: map[string]string{}, stops: map[string]string{}, bodies: map[string]string{},
		follow: func(*http.Request, string) string { return "session_end" },
	}
	w.config = Config{
		PSKA:    Endpoint{URL: "http://pska.example", HTTP: &http.Client{Transport: near{http.HandlerFunc(w.pska)}}},
		Service: client.Config{URL: "http://service.example", HTTP: &http.Client{Transport: near{http.HandlerFunc(w.service)}}},
		Once:    true, WorkerID: "me",
	}
	return w
}

func queued(id string) string {
	return fmt.Sprintf(`{"id":%q,"job_type":"digest_via_fastreact","status":"queued"}`, id)
}

func (w *world) note(r *http.Request) string {
	body := ""
	if r.Body != nil {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := r.Method + " " + r.URL.Path
	w.calls, w.bodies[key] = append(w.calls, key), body
	return key
}

func (w *world) pska(out http.ResponseWriter, r *http.Request) {
	key := w.note(r)
	w.mu.Lock()
	answer, jobs := w.answers[key], "["+strings.Join(w.jobs, ",")+"]"
	w.mu.Unlock()
	status, text := http.StatusOK, `{}`
	switch {
	case answer != nil:
		status, text = answer()
	case key == "GET /jobs":
		text = jobs
	}
	out.WriteHeader(status)
	_, _ = io.WriteString(out, text)
}

func (w *world) service(out http.ResponseWriter, r *http.Request) {
	key := w.note(r)
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/runs/"), "/")
	w.mu.Lock()
	status, known := w.statuses[id]
	w.mu.Unlock()
	switch {
	case key == "POST /v1/runs":
		w.begin()
		_, _ = io.WriteString(out, `{"run_id":"r"}`)
	case rest == "cancel":
		_, _ = io.WriteString(out, `{"run_id":"r","status":"cancelled"}`)
	case rest == "stream":
		fmt.Fprintf(out, "id: 0\nevent: x\ndata: %s\n\nevent: done\ndata: [DONE]\n\n",
			fmt.Sprintf(`{"sequence":0,"type":%q,"content":"said","metadata":{"stop_reason":%q}}`, w.follow(r, id), cmp.Or(w.stops[id], "stop")))
	case !known:
		out.WriteHeader(http.StatusNotFound)
	default:
		fmt.Fprintf(out, `{"run_id":%q,"status":%q}`, id, status)
	}
}

// begin remembers the run that was just asked for.
func (w *world) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var asked struct {
		Metadata struct {
			RunID string `json:"run_id"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(w.bodies["POST /v1/runs"]), &asked); err == nil {
		w.statuses[asked.Metadata.RunID] = "running"
	}
}

// work runs the worker to its end.
func (w *world) work() {
	w.t.Helper()
	w.workUntil(w.t.Context())
}

func (w *world) workUntil(ctx context.Context) {
	w.t.Helper()
	worker, err := New(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := worker.Run(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, one := range w.calls {
		if one == call {
			n++
		}
	}
	return n
}

func (w *world) body(call string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bodies[call]
}

// after waits in the test's own time, or until the request ends.
func after(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}
