package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/host/internal/web/console"
)

const standInToken = "service-token-of-the-page-test"

// standIn is a service that serves the real page and answers its questions as a script says: the question names it.
type standIn struct {
	held chan struct{} // closed by the browser's test to let a held stream go on

	mu      sync.Mutex
	seen    journal
	waiting []string // JSON of the calls that wait for a person
	broken  bool     // the next answer of a person gets none
}

// journal is what the stand-in was asked.
type journal struct {
	Chats     []map[string]any `json:"chats"`
	Feedback  []map[string]any `json:"feedback"`
	Traces    int              `json:"traces"`
	Left      int              `json:"left"` // held streams whose client went away
	Tokens    int              `json:"tokens"`
	Settled   []settled        `json:"settled"`
	Scenarios []string         `json:"violations"`
}

// settled is one answer of a person, as it came.
type settled struct {
	Path string         `json:"path"`
	Body map[string]any `json:"body"`
	Key  string         `json:"key"`
}

// waitingCalls are one call that asks for permission and one whose outcome is unknown.
func waitingCalls() []string {
	call := func(id, tool, kind, args, reason string) string {
		return `{"request_id":"` + id + `","run_id":"run-9","user_key":"pska:ann","tool_name":"` + tool + `","kind":"` + kind +
			`","tool_args":` + args + `,"args_digest":"sha256:ab12","reason":"` + reason + `","status":"pending",` +
			`"expires_at":"2026-11-30T17:00:00.000000+00:00"}`
	}
	return []string{
		call("approval-1", "exec", "permission", `{"command":"rm -r build","times":1.0,"limit":12345678901234567890}`,
			"Policy tool:exec requires approval"),
		call("approval-2", "send_mail", "outcome_unknown", `{"to":"ann\u202etxt.exe","text":"<b>hi</b>"}`,
			"Whether <img src=x onerror=alert(1)> send_mail took effect is not known."),
	}
}

func frame(event, data string) string { return "event: " + event + "\ndata: " + data + "\n\n" }

const (
	metadataFrame = "event: metadata\ndata: {\"session_id\":\"session-7\",\"run_id\":\"run-42\"}\n\n"
	routingFrame  = "event: status\ndata: {\"code\":\"ROUTING\",\"message\":\"Understanding the question.\"}\n\n"
	secretText    = "TEXT-THAT-MUST-NOT-BE-SHOWN"
)

func answerFrame(text string) string {
	return frame("content", `{"content_type":"ANSWER","payload":{"text":"`+text+`"}}`)
}

func doneFrame(outcome string) string { return frame("done", `{"outcome":"`+outcome+`"}`) }

// violations are streams that break the contract, each in one way. Each holds an answer that nobody may see.
func violations() map[string]string {
	answer, good := answerFrame(secretText), doneFrame("SUCCESS")
	fallback := frame("content", `{"content_type":"FALLBACK","payload":{"text":"`+secretText+`"}}`)
	failure := frame("failure", `{"code":"CHAT_INTERNAL","message":"`+secretText+`"}`)
	start := metadataFrame + routingFrame
	return map[string]string{
		"an unknown event":          start + frame("message", `{"text":"hi"}`) + answer + good,
		"an unknown status":         start + frame("status", `{"code":"THINKING","message":"`+secretText+`"}`) + answer + good,
		"metadata twice":            metadataFrame + start + answer + good,
		"no metadata":               routingFrame + answer + good,
		"content first":             answer + start + good,
		"content twice":             start + answer + answer + good,
		"content and failure":       start + answer + failure + doneFrame("FAILED"),
		"failure and content":       start + failure + answer + good,
		"a status behind content":   start + answer + routingFrame + good,
		"done twice":                start + answer + good + good,
		"something behind done":     start + answer + good + routingFrame,
		"done without content":      start + good + answer,
		"success after a failure":   start + failure + good,
		"failed after content":      start + answer + doneFrame("FAILED"),
		"success of a fallback":     start + fallback + good,
		"fallback of an answer":     start + answer + doneFrame("FALLBACK"),
		"an unknown outcome":        start + answer + doneFrame("DONE"),
		"an end without done":       start + answer,
		"half a done":               start + answer + "event: done\ndata: {\"outcome\":\"SUCCESS\"}\n",
		"an unknown content type":   start + frame("content", `{"content_type":"HTML","payload":{"text":"`+secretText+`"}}`) + good,
		"a payload of another type": start + frame("content", `{"content_type":"ANSWER","payload":"`+secretText+`"}`) + good,
		"one key more":              start + frame("content", `{"content_type":"ANSWER","payload":{"text":"`+secretText+`","html":""}}`) + good,
		"a key twice":               start + frame("content", `{"content_type":"ANSWER","payload":{"text":"a","text":"`+secretText+`"}}`) + good,
		"data that is no JSON":      start + frame("content", secretText) + good,
		"a chunk without a name":    start + "data: " + secretText + "\n\n" + answer + good,
		"an id field":               "id: 1\n" + start + answer + good,
		"bytes that are no text":    start + frame("content", `{"content_type":"ANSWER","payload":{"text":"`+secretText+"\xff"+`"}}`) + good,
		"nothing at all":            "",
		"an unknown failure":        start + frame("failure", `{"code":"ORA-00942","message":"`+secretText+`"}`) + doneFrame("FAILED"),
		"evidence that is missing": start + frame("content", strings.Replace(reportJSON, `"evidence_ids":["m-1","l-1"]`,
			`"evidence_ids":["x-9"]`, 1)) + good,
	}
}

const reportJSON = `{"content_type":"DIAGNOSIS_REPORT","payload":{` +
	`"summary":"The checkout answers slowly since 16:40 because every order search reads the whole orders table. ` + secretText + `",` +
	`"findings":[` +
	`{"statement":"The 95th percentile of /checkout rose from 0.3 s to 2.4 s at 16:40.","severity":"critical","evidence_ids":["m-1","l-1"]},` +
	`{"statement":"The query on orders examined 1840211 rows for 12 results.","severity":"warning","evidence_ids":["q-1"]},` +
	`{"statement":"No deployment happened in the hour before.","severity":"info","evidence_ids":["l-1"]}],` +
	`"likely_cause":"The index on orders.customer_id was dropped at 16:38; since then each search is a full scan.",` +
	`"recommended_actions":["Create the index on orders.customer_id again.","Watch the 95th percentile for ten minutes.","Add the index to the schema check, so that its loss is noticed."],` +
	`"evidence":[` +
	`{"evidence_id":"m-1","source":"metrics","title":"Metrics http_request_duration_seconds: 3 series","observed_at":"2026-11-30T16:52:10Z"},` +
	`{"evidence_id":"l-1","source":"logs","title":"Logs: 12 matching lines in 2 files","observed_at":"2026-11-30T16:52:11Z"},` +
	`{"evidence_id":"q-1","source":"mysql","title":"Database shop: 3 rows","observed_at":"2026-11-30T16:52:12Z"}]}}`

// streams are the scripts that end by themselves.
func streams() map[string]string {
	start := metadataFrame + routingFrame
	collecting := frame("status", `{"code":"PLANNING","message":"Planning the diagnosis."}`) +
		frame("status", `{"code":"COLLECTING_EVIDENCE","message":"Collecting evidence."}`) + ": keepalive\n\n" +
		frame("status", `{"code":"ANALYZING","message":"Analyzing the evidence."}`) +
		frame("status", `{"code":"VERIFYING","message":"Checking the answer against its evidence."}`)
	return map[string]string{
		"answer":   start + answerFrame("A first line.\\n\\nA second one with <b>no markup</b> <img src=x onerror=alert(1)> 決済.") + doneFrame("SUCCESS"),
		"report":   strings.ReplaceAll(start+collecting, "\n", "\r\n") + frame("content", strings.Replace(reportJSON, " "+secretText, "", 1)) + doneFrame("SUCCESS"),
		"fallback": start + collecting + frame("status", `{"code":"REPAIRING","message":"Repairing the answer."}`) + frame("content", `{"content_type":"FALLBACK","payload":{"text":"There is no answer that the collected evidence carries. Ask more precisely, or look at the evidence yourself."}}`) + doneFrame("FALLBACK"),
		"failure":  start + frame("failure", `{"code":"CHAT_MODEL_UNAVAILABLE","message":"The language model cannot be reached at the moment."}`) + doneFrame("FAILED"),
	}
}

// newStandIn serves the page twice, open and behind a token, and a port for the test itself.
func newStandIn(t *testing.T) (env []string) {
	s := &standIn{held: make(chan struct{})}
	open := s.serve(t, web.Config{})
	locked := s.serve(t, web.Config{Auth: web.AuthServiceToken, ServiceToken: standInToken})
	control := httptest.NewServer(http.HandlerFunc(s.control))
	t.Cleanup(control.Close)
	t.Cleanup(s.release)
	return []string{"OPEN=" + open.URL, "LOCKED=" + locked.URL, "CONTROL=" + control.URL, "TOKEN=" + standInToken}
}

func (s *standIn) serve(t *testing.T, cfg web.Config) *httptest.Server {
	page, err := console.New()
	if err != nil {
		t.Fatal(err)
	}
	entrance, err := web.New(cfg, page, s.face())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(fmt.Sprint(r.Header, r.URL), standInToken) && r.URL.Path != "/v1/ui/codes" {
			s.mu.Lock()
			s.seen.Tokens++
			s.mu.Unlock()
		}
		entrance.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func (s *standIn) face() web.Face {
	return web.Face{Routes: []web.Route{
		{Method: "POST", Path: "/api/chat", Page: true, Stream: true, Handle: s.chat},
		{Method: "POST", Path: "/api/feedback", Page: true, Handle: s.feedback},
		{Method: "GET", Path: "/v1/traces/{run_id}", Page: true, Handle: s.trace},
		{Method: "GET", Path: "/v1/approvals", Page: true, Handle: s.approvals},
		{Method: "POST", Path: "/v1/approvals/{id}/{answer}", Page: true, Handle: s.settle},
	}}
}

func (s *standIn) note(change func(*journal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.seen)
}

func (s *standIn) chat(x *web.Exchange) error {
	object, err := x.Object()
	if err != nil {
		return err
	}
	s.note(func(j *journal) { j.Chats = append(j.Chats, object) })
	script, _ := object["query"].(string)
	return x.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.play(w, r, script) }))
}

// play writes what a script says.
func (s *standIn) play(w http.ResponseWriter, r *http.Request, script string) {
	status := 0
	if _, err := fmt.Sscanf(script, "status %d", &status); err == nil {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"code":"CHAT_UNAVAILABLE","message":"` + secretText + `"}`))
		return
	}
	kind, asked := strings.CutPrefix(script, "type ")
	if !asked {
		kind = "text/event-stream"
	}
	w.Header()["Content-Type"] = []string{kind}
	switch body := streams()[script]; {
	case asked:
		body = metadataFrame + answerFrame(secretText) + doneFrame("SUCCESS")
		_, _ = w.Write([]byte(body))
	case script == "held" || script == "broken" || script == "open end":
		s.hold(w, r, script)
	case body != "":
		_, _ = w.Write([]byte(body))
	default:
		_, _ = w.Write([]byte(violations()[script]))
	}
}

// hold writes the beginning of an answer and waits.
func (s *standIn) hold(w http.ResponseWriter, r *http.Request, script string) {
	_, _ = w.Write([]byte(metadataFrame + routingFrame +
		frame("status", `{"code":"COLLECTING_EVIDENCE","message":"Collecting evidence."}`)))
	if script == "open end" {
		_, _ = w.Write([]byte(answerFrame("The answer of a connection that stays.") + doneFrame("SUCCESS")))
	}
	if script == "broken" {
		_, _ = w.Write([]byte(answerFrame(secretText)))
	}
	_ = http.NewResponseController(w).Flush()
	if script == "broken" {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	select {
	case <-held:
		_, _ = w.Write([]byte(answerFrame("The answer that was held.") + doneFrame("SUCCESS")))
	case <-r.Context().Done():
		s.note(func(j *journal) { j.Left++ })
	}
}

func (s *standIn) feedback(x *web.Exchange) error {
	object, err := x.Object()
	if err != nil {
		return err
	}
	s.note(func(j *journal) { j.Feedback = append(j.Feedback, object) })
	return x.Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
}

func (s *standIn) trace(x *web.Exchange) error {
	s.note(func(j *journal) { j.Traces++ })
	return x.JSON(http.StatusOK, map[string]any{"run_id": x.Var("run_id"), "trace": map[string]any{
		"status": "completed", "started_at": "2026-11-30T16:52:01Z", "completed_at": "2026-11-30T16:52:13Z",
		"duration_ms": 12034.5, "event_count": 23, "tool_name_counts": map[string]int{"query_metrics": 2, "query_logs": 1},
		"llm_usage_total": map[string]int{"total_tokens": 4711}, "policy_snapshot_hash": "sha256:3f9a",
	}})
}

func (s *standIn) approvals(x *web.Exchange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.JSON(http.StatusOK, map[string]any{"approvals": json.RawMessage("[" + strings.Join(s.waiting, ",") + "]")})
}

// settle takes an answer. One that is refused, or lost, leaves the call where it was.
func (s *standIn) settle(x *web.Exchange) error {
	object, err := x.Object()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Settled = append(s.seen.Settled, settled{x.Request.URL.Path, object, x.Request.Header.Get("Idempotency-Key")})
	if s.broken {
		s.broken = false
		panic(http.ErrAbortHandler)
	}
	if x.Var("answer") == "deny" && x.Var("id") == "approval-1" {
		return web.Forbidden()
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(one string) bool { return strings.Contains(one, `"`+x.Var("id")+`"`) })
	return x.JSON(http.StatusOK, map[string]any{"request_id": x.Var("id")})
}

// control answers the browser's test: what was asked, and lets a held stream go on.
func (s *standIn) control(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/release" {
		s.release()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/forget":
		s.seen, s.waiting = journal{}, nil
	case "/wait":
		s.waiting = waitingCalls()
	case "/break":
		s.broken = true
	}
	s.seen.Scenarios = nil
	for name := range violations() {
		s.seen.Scenarios = append(s.seen.Scenarios, name)
	}
	_ = json.NewEncoder(w).Encode(s.seen)
}

// release lets the streams go on that are held now.
func (s *standIn) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.held)
	s.held = make(chan struct{})
}
