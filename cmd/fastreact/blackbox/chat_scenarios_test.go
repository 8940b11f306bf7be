package blackbox

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// guardedService is a service that diagnoses a log folder, with a guard of an operator's own beside the built-in ones.
func guardedService(t *testing.T, model *scriptedModel, more string, env ...string) *service {
	t.Helper()
	guard := loading(t, "guard", ", limits: {wall: 30s, gas: 1000000000000}")
	return start(t, model, guard+harnessing(t, more), env...)
}

// deskModel answers as the question says: its last word names a draft.
func deskModel(a asked) said {
	if a.routing() {
		return said{text: map[string]string{"Tell me something.": "GENERAL", "Mumble.": "I would rather not say"}[a.question()]}
	}
	_, word, _ := strings.Cut(a.opening(), ": ")
	return readsLog(func(a asked) said {
		switch word {
		case "invent":
			return reporting(a, inventedWords)
		case "mend":
			if a.question() == a.opening() {
				return reporting(a, inventedWords)
			}
			return reporting(a, trueWords)
		case "babble":
			return said{text: "The payment service is down, I think."}
		case "disclose":
			return reporting(a, trueWords+" I asked query_logs.")
		case "uncited":
			return said{text: draft(trueWords, trueWords, "l-00000000-1")}
		case "true", "":
			return reporting(a, trueWords)
		case "hello":
			return said{text: "Hello! How can I help you?"}
		case "long":
			return said{text: draft(trueWords, trueWords+strings.Repeat(" It was slow.", 25_000), a.cited()...)}
		}
		return reporting(a, trueWords+" behave:"+word+";")
	})(a)
}

// TestTheChatStreamOfTheSeed asks one service everything that needs no service of its own. Each part is named by the
// seed's own words.
func TestTheChatStreamOfTheSeed(t *testing.T) {
	t.Parallel()
	s := guardedService(t, newModel(t, deskModel), ", max_content_bytes: 1048576")
	for name, scenario := range map[string]func(*testing.T, *service){
		"Accepted Chat request": acceptedChatRequest, "Removed legacy endpoint": removedLegacyEndpoint,
		"Invalid request": invalidRequest, "Successful diagnosis": successfulDiagnosis, "Safe fallback": safeFallback,
		"Technical failure": technicalFailure, "Metadata identity": metadataIdentity, "Long final report": longFinalReport,
		"Normal completion callback": normalCompletionCallback, "Content release boundary": contentReleaseBoundary,
		"A repaired draft": repairedDraft, "An answer in plain words": plainAnswer, "Feedback": feedbackOfAReader,
	} {
		t.Run(name, func(t *testing.T) { scenario(t, s.in(t)) })
	}
}

// in is the same service for another test.
func (s *service) in(t *testing.T) *service {
	other := *s
	other.t = t
	return &other
}

func acceptedChatRequest(t *testing.T, s *service) {
	v := s.chats("Diagnose checkout: true")
	if v.status != http.StatusOK || !strings.HasPrefix(v.header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("%d %v", v.status, v.header)
	}
	if v.header.Get("Cache-Control") == "" || strings.Contains(v.raw, "id:") && strings.Contains(v.raw, "\nid: ") || strings.Contains(v.raw, "\nretry:") {
		t.Errorf("%v\n%s", v.header, v.raw)
	}
}

func removedLegacyEndpoint(t *testing.T, s *service) {
	before := s.count()
	for _, path := range []string{"/api/chat_stream", "/api/chat_stream/", "/api/chat/", "/api/chat/stream"} {
		if v := s.visit(path, map[string]any{"query": "Diagnose checkout: true"}); v.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, v.status, v.raw)
		}
	}
	if now := s.count(); now != before {
		t.Errorf("%d runs were made", now-before)
	}
}

func invalidRequest(t *testing.T, s *service) {
	before := s.count()
	const blank = `{"code":"CHAT_INVALID_REQUEST","message":"The query must not be blank."}`
	for _, body := range []string{
		`{"query":""}`, `{"query":" \n\t\u00a0"}`, `{}`, `{"query":null}`, `{"query":7}`, `{"query":["x"]}`, `{"query":{"a":1}}`,
		`{"query":true}`, ``, `[]`, `"x"`, `{"query":"\u200b"}`,
	} {
		if v := s.visit("/api/chat", body); v.status != http.StatusBadRequest || strings.TrimSpace(v.raw) != blank {
			t.Errorf("%s: %d %s", body, v.status, v.raw)
		}
	}
	for _, c := range []struct {
		body, accept, code string
		status             int
	}{
		{`{"query":"Diagnose it","session_id":5}`, "", "CHAT_INVALID_REQUEST", 400},
		{`{"query":"` + strings.Repeat("x", 20_000) + `"}`, "", "CHAT_REQUEST_TOO_LARGE", 413},
		{`{"query":"Diagnose it"}`, "application/json", "CHAT_NOT_ACCEPTABLE", 406},
		{`{"query":"Diagnose it"}`, "text/event-stream;q=0, application/json", "CHAT_NOT_ACCEPTABLE", 406},
	} {
		headers := []string{}
		if c.accept != "" {
			headers = []string{"Accept", c.accept}
		}
		v := s.visit("/api/chat", c.body, headers...)
		if v.status != c.status || s.object([]byte(v.raw))["code"] != c.code {
			t.Errorf("%.60s, %s: %d %s", c.body, c.accept, v.status, v.raw)
		}
	}
	if now := s.count(); now != before {
		t.Errorf("%d runs were made", now-before)
	}
}

func successfulDiagnosis(t *testing.T, s *service) {
	v := s.chats("Diagnose checkout: true")
	if diff := cmp.Diff(orderOfReport, v.order()); diff != "" {
		t.Fatalf("order (-want +got):\n%s\n%s", diff, v.raw)
	}
	payload := v.one("content")["payload"].(map[string]any)
	keys := keysOf(t, string(mustJSON(t, payload)))
	if diff := cmp.Diff([]string{"evidence", "findings", "likely_cause", "recommended_actions", "summary"}, inOrder(keys)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	finding := payload["findings"].([]any)[0].(map[string]any)
	item := payload["evidence"].([]any)[0].(map[string]any)
	if finding["statement"] != trueWords || finding["evidence_ids"].([]any)[0] != item["evidence_id"] || item["source"] != "logs" {
		t.Errorf("%s", mustJSON(t, payload))
	}
	if diff := cmp.Diff([]string{"evidence_id", "observed_at", "source", "title"}, inOrder(keysOf(t, string(mustJSON(t, item))))); diff != "" {
		t.Errorf("keys of evidence (-want +got):\n%s", diff)
	}
}

// safeFallback rejects drafts for very different reasons: what is read is the same, byte for byte.
func safeFallback(t *testing.T, s *service) {
	want := ""
	for _, why := range []string{
		"invent", "babble", "disclose", "uncited", "reject", "fallback", "maybe", "trap", "text", "empty", "out-of-bounds", "blab", "exit",
	} {
		v := s.chats("Diagnose checkout: " + why)
		if diff := cmp.Diff(orderOfFallback, v.order()); diff != "" {
			t.Errorf("%s: order (-want +got):\n%s\n%s", why, diff, v.raw)
			continue
		}
		if want == "" {
			want = v.afterMetadata()
		}
		if diff := cmp.Diff(want, v.afterMetadata()); diff != "" {
			t.Errorf("%s: bytes (-the first rejection +this one):\n%s", why, diff)
		}
	}
}

func technicalFailure(t *testing.T, s *service) {
	v := s.chats("Mumble.")
	if want := "metadata, status ROUTING, failure CHAT_ROUTING_FAILED, done FAILED"; v.order() != want {
		t.Errorf("%s\n%s", v.order(), v.raw)
	}
	if status := s.stored(v.run())["status"]; status != "failed" {
		t.Errorf("the run is %v", status)
	}
}

func metadataIdentity(t *testing.T, s *service) {
	v := s.visit("/api/chat", map[string]any{"query": "Diagnose checkout: true", "session_id": "session-of-mine", "user_key": "pska:ann"})
	metadata := v.one("metadata")
	if diff := cmp.Diff([]string{"run_id", "session_id"}, inOrder(keysOf(t, v.all[0].data))); diff != "" || v.all[0].name != "metadata" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	run := s.stored(v.run())
	if metadata["session_id"] != "session-of-mine" || run["session_id"] != metadata["session_id"] || run["status"] != "completed" || run["user_key"] != "pska:ann" {
		t.Errorf("metadata %v, stored %v", metadata, run)
	}
	if status, raw := s.request("GET", "/v1/traces/"+v.run(), nil); status != http.StatusOK {
		t.Errorf("trace: %d %s", status, raw)
	}
}

func longFinalReport(t *testing.T, s *service) {
	v := s.chats("Diagnose checkout: long")
	if v.order() != orderOfReport {
		t.Fatalf("%s", v.order())
	}
	if content := v.all[len(v.all)-2]; content.name != "content" || len(content.data) < 300_000 {
		t.Errorf("%s of %d bytes", content.name, len(content.data))
	}
}

func normalCompletionCallback(t *testing.T, s *service) {
	v := s.chats("Diagnose checkout: true")
	before := s.stored(v.run())
	http.DefaultClient.CloseIdleConnections()
	s.chats("Diagnose checkout: invent")
	if diff := cmp.Diff(before, s.stored(v.run())); diff != "" || before["status"] != "completed" {
		t.Errorf("the run after its stream was closed (-before +now):\n%s", diff)
	}
}

// contentReleaseBoundary holds a draft in a guard that thinks for seconds: until it has spoken, only statuses flow.
func contentReleaseBoundary(t *testing.T, s *service) {
	stream := newFrames(t, s.open("POST", "/api/chat", map[string]any{"query": "Diagnose checkout: think"}).Body)
	verifying := func(f frame) bool { return strings.Contains(f.data, "VERIFYING") }
	var id string
	for {
		f, ok := stream.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if f.event == "metadata" {
			id = f.json(t)["run_id"].(string)
		} else if f.event != "status" {
			t.Fatalf("before the guards were asked: %s", f.raw)
		}
		if verifying(f) {
			break
		}
	}
	_, raw := s.request("GET", "/v1/runs/"+id, nil)
	_, events := s.request("GET", "/v1/runs/"+id+"/events", nil)
	if held := s.object(raw)["status"]; held != "running" {
		t.Errorf("the guard held nothing: the run is %v", held)
	}
	if strings.Contains(string(raw)+string(events), "with status 503.") {
		t.Errorf("the draft is shown while it is held:\n%s\n%s", raw, events)
	}
	if rest := stream.rest(); len(rest) != 2 || rest[0].event != "content" || rest[1].event != "done" {
		t.Errorf("after the guard: %v", kinds(rest))
	}
}

func repairedDraft(t *testing.T, s *service) {
	v := s.chats("Diagnose checkout: mend")
	if diff := cmp.Diff(orderOfRepaired, v.order()); diff != "" {
		t.Errorf("order (-want +got):\n%s\n%s", diff, v.raw)
	}
	if strings.Contains(v.raw, "504") {
		t.Errorf("the rejected draft is shown:\n%s", v.raw)
	}
}

func plainAnswer(t *testing.T, s *service) {
	v := s.chats("Hello: hello")
	if want := "metadata, status ROUTING, status VERIFYING, content ANSWER, done SUCCESS"; v.order() != want {
		t.Errorf("%s\n%s", v.order(), v.raw)
	}
	if diff := cmp.Diff(map[string]any{"text": "Hello! How can I help you?"}, v.one("content")["payload"]); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
}

func feedbackOfAReader(t *testing.T, s *service) {
	v := s.chats("Hello: hello")
	metadata := v.one("metadata")
	said := map[string]any{"run_id": metadata["run_id"], "session_id": metadata["session_id"], "rating": "down", "comment": "no"}
	for range 2 {
		if status, raw := s.request("POST", "/api/feedback", said); status != http.StatusNoContent {
			t.Errorf("%d %s", status, raw)
		}
	}
	said["session_id"] = "session-of-another"
	if status, raw := s.request("POST", "/api/feedback", said); status != http.StatusNotFound {
		t.Errorf("ids that do not belong together: %d %s", status, raw)
	}
	said["rating"] = "sideways"
	if status, raw := s.request("POST", "/api/feedback", said); status != http.StatusBadRequest {
		t.Errorf("no rating: %d %s", status, raw)
	}
}

func inOrder(words []string) []string { return slices.Sorted(slices.Values(words)) }
