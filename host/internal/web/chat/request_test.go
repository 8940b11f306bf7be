package chat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// wantRefusal compares status and code of an answer that is no stream, and the shape of its body.
func wantRefusal(t *testing.T, answer *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var body map[string]string
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	if answer.Code != status || body["code"] != code || body["message"] == "" || len(body) != 2 {
		t.Errorf("%d %s, want %d %s", answer.Code, answer.Body, status, code)
	}
	if answer.Code == http.StatusServiceUnavailable && answer.Header().Get("Retry-After") != "2" {
		t.Errorf("Retry-After: %q", answer.Header().Get("Retry-After"))
	}
}

func TestABlankQueryIsRefusedInTheseBytes(t *testing.T) {
	const want = `{"code":"CHAT_INVALID_REQUEST","message":"The query must not be blank."}`
	for _, body := range []string{
		"", `{}`, `{"query":""}`, `{"query":null}`, `{"query":" \t\n\u3000\u200b"}`, `{"query":5}`, `{"query":["x"]}`, `[]`,
		`"x"`, `null`, `{"query":"x"`, `{"query":"x","session_id":5}`, `{"query":"x","user_key":{}}`, `{"query":"x"} {}`,
		"{\"query\":\"\xff\"}", `{"query":"a\u0000b"}`,
		`{"query":"\u2800 \u2800"}`, `{"query":"\u3164\u115f\u1160\uffa0"}`, `{"query":" \u0301"}`, `{"query":"\ufe0f\u200d\u2060"}`,
	} {
		b := newBook(nil)
		answer := post(t.Context(), served(t, b), "/api/chat", body)
		if answer.Code != http.StatusBadRequest || answer.Body.String() != want {
			t.Errorf("%q: %d %s", body, answer.Code, answer.Body)
		}
		if runs, _ := b.stored(); len(runs) > 0 {
			t.Errorf("%q: a run was stored", body)
		}
	}
}

func TestARequestThatIsNotTheContractsIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, path, body string
		header           []string
		status           int
		code             string
	}{
		{"unknown key", "/api/chat", `{"query":"x","stream":true}`, nil, 400, "CHAT_INVALID_REQUEST"},
		{"session with a space", "/api/chat", `{"query":"x","session_id":"a b"}`, nil, 400, "CHAT_INVALID_REQUEST"},
		{
			"long session", "/api/chat", `{"query":"x","session_id":"` + strings.Repeat("s", 201) + `"}`, nil,
			400, "CHAT_INVALID_REQUEST",
		},
		{"user with a line break", "/api/chat", `{"query":"x","user_key":"a\nb"}`, nil, 400, "CHAT_INVALID_REQUEST"},
		{
			"two users", "/api/chat", `{"query":"x","user_key":"a"}`,
			[]string{web.UserHeader, "b"},
			400, "CHAT_INVALID_REQUEST",
		},
		{"too large", "/api/chat", `{"query":"` + strings.Repeat("x", 1024) + `"}`, nil, 413, "CHAT_REQUEST_TOO_LARGE"},
		{"no stream wanted", "/api/chat", hello, []string{"Accept", "application/json"}, 406, "CHAT_NOT_ACCEPTABLE"},
		{"no stream wanted", "/api/ai_ops", "", []string{"Accept", "application/json"}, 406, "CHAT_NOT_ACCEPTABLE"},
		{"no JSON", "/api/chat", hello, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{"foreign page", "/api/chat", hello, []string{"Origin", "https://evil.example"}, 403, "origin_not_allowed"},
		{"alert that is none", "/api/ai_ops", `{"alert":5}`, nil, 400, "CHAT_INVALID_REQUEST"},
		{"alert of two lines", "/api/ai_ops", `{"alert":"a\nb"}`, nil, 400, "CHAT_INVALID_REQUEST"},
		{
			"long alert", "/api/ai_ops", `{"alert":"` + strings.Repeat("a", 257) + `"}`, nil, 400, "CHAT_INVALID_REQUEST",
		},
		{"unknown key", "/api/ai_ops", `{"query":"x"}`, nil, 400, "CHAT_INVALID_REQUEST"},
	} {
		b := newBook(nil)
		answer := post(t.Context(), served(t, b), c.path, c.body, c.header...)
		t.Log(c.name)
		wantRefusal(t, answer, c.status, c.code)
		if runs, _ := b.stored(); len(runs) > 0 {
			t.Errorf("%s: a run was stored", c.name)
		}
	}
}

func TestARequestOfExactlyTheLimitIsTaken(t *testing.T) {
	for _, c := range []struct{ over, want int }{{0, 200}, {1, 413}} {
		body := `{"query":"` + strings.Repeat("x", 1024-len(`{"query":""}`)+c.over) + `"}`
		b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
		if got := post(t.Context(), served(t, b), "/api/chat", body).Code; got != c.want {
			t.Errorf("%d bytes: %d", len(body), got)
		}
	}
}

func TestTheDoorsOwnLimitSpeaksThisFacesWords(t *testing.T) {
	handler := served(t, newBook(nil), func(_ *Config, door *web.Config) { door.MaxBody = 10 })
	wantRefusal(t, post(t.Context(), handler, "/api/chat", hello), 413, "CHAT_REQUEST_TOO_LARGE")
}

func TestAcceptSaysWhetherAStreamIsTaken(t *testing.T) {
	for accept, want := range map[string]bool{
		"": true, "text/event-stream": true, "*/*": true, "text/*": true, "application/json, text/event-stream": true,
		"application/json, */*;q=0.1": true, "TEXT/Event-Stream;charset=utf-8": true, "text/html": false,
		"application/json": false, "text/event-stream;q=0": false, "*/*, text/event-stream;q=0": false,
		"*/*;q=0, text/event-stream": true, "nonsense": false,
	} {
		header := http.Header{}
		if accept != "" {
			header.Set("Accept", accept)
		}
		if got := wantsStream(header); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestAFullWorkerIsAnAnswerAndNoRun(t *testing.T) {
	b, workers := newBook(nil), newCrew(0)
	handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.Worker = workers })
	for path, body := range map[string]string{"/api/chat": hello, "/api/ai_ops": ""} {
		wantRefusal(t, post(t.Context(), handler, path, body), 503, "CHAT_UNAVAILABLE")
	}
	if runs, _ := b.stored(); len(runs) > 0 {
		t.Errorf("%v", runs)
	}
}

func TestARunThatCannotBeStoredIsAnAnswerWithoutAStream(t *testing.T) {
	for code, want := range map[run.Code]struct {
		status int
		code   string
	}{
		run.CodeSaturated: {503, "CHAT_UNAVAILABLE"}, run.CodeNotReady: {503, "CHAT_UNAVAILABLE"},
		run.CodeStore: {503, "CHAT_STORE_UNAVAILABLE"}, run.CodeInternal: {500, "CHAT_INTERNAL"},
	} {
		b := newBook(nil)
		b.refusal = &run.Error{Code: code, Sentence: canary, Op: canary, Cause: errors.New(canary)}
		answer := post(t.Context(), served(t, b), "/api/chat", hello)
		wantRefusal(t, answer, want.status, want.code)
		if strings.Contains(answer.Body.String(), "canary") {
			t.Error(answer.Body)
		}
	}
}

func TestTheRunIsTheContractsAndNobodysElse(t *testing.T) {
	b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
	post(t.Context(), served(t, b), "/api/chat", hello)
	post(t.Context(), served(t, b), "/api/chat", `{"query":"x","session_id":""}`, web.UserHeader, "acme:bob")
	runs, _ := b.stored()
	want := run.Request{
		ID: runs[0].ID, SessionID: "s-1", Kind: run.Chat, Profile: "chat", Detached: true, RunTimeout: 120 * time.Second,
		Messages:   []run.Message{{Role: run.User, Content: "Why is checkout slow?"}},
		Identity:   sdk.Identity{UserKey: "pska:ann", TenantKey: "pska", UserID: "ann", AuthProvider: "none"},
		ToolPolicy: run.ToolPolicy{Unattended: true},
	}
	if diff := cmp.Diff(want, runs[0].Request); diff != "" {
		t.Error(diff)
	}
	second := runs[1].Request
	if second.SessionID == "" || second.ID == runs[0].ID || second.Identity.UserKey != "acme:bob" ||
		second.Identity.TenantKey != "acme" {
		t.Errorf("%+v", second)
	}
}

func TestADiagnosisOfAlertsAsksAFixedQuestion(t *testing.T) {
	b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
	for _, body := range []string{"", `{}`, `{"alert":" "}`, `{"alert":"High \"latency\""}`} {
		post(t.Context(), served(t, b), "/api/ai_ops", body)
	}
	runs, _ := b.stored()
	var got []string
	for _, r := range runs {
		if r.Request.Profile != "diagnosis" || !r.Request.ToolPolicy.Unattended {
			t.Errorf("%+v", r.Request)
		}
		got = append(got, r.Request.Query())
	}
	named := `The alert "High \"latency\"" is firing in Prometheus. Find its cause and say what to do about it.`
	if diff := cmp.Diff([]string{firingAlerts, firingAlerts, firingAlerts, named}, got); diff != "" {
		t.Error(diff)
	}
}

// withUsers makes the door know users: a token is written user/tenant.
func withUsers(_ *Config, door *web.Config) {
	door.Auth, door.ServiceToken = web.AuthJWT, "service-token-of-the-test"
	door.Tokens = func(_ context.Context, token string) (web.Claims, error) {
		user, tenant, _ := strings.Cut(token, "/")
		return web.Claims{Subject: user, Tenant: tenant}, nil
	}
}

func TestACredentialIsNeededAndNobodySpeaksForSomebodyElse(t *testing.T) {
	b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
	handler := served(t, b, withUsers)
	for path, body := range map[string]string{
		"/api/chat": hello, "/api/ai_ops": "", "/api/feedback": `{"run_id":"r","session_id":"s","rating":"up"}`,
	} {
		wantRefusal(t, post(t.Context(), handler, path, body), 401, "unauthorized")
	}
	bob := []string{"Authorization", "Bearer pska:bob/pska"}
	wantRefusal(t, post(t.Context(), handler, "/api/chat", hello, bob...), 403, "identity_mismatch")
	if runs, _ := b.stored(); len(runs) > 0 {
		t.Errorf("%v", runs)
	}
	post(t.Context(), handler, "/api/chat", `{"query":"x"}`, bob...)
	runs, _ := b.stored()
	if identity := runs[0].Request.Identity; identity.UserKey != "pska:bob" || identity.TenantKey != "pska" {
		t.Errorf("%+v", identity)
	}
}

func TestThereIsNoOtherWayIn(t *testing.T) {
	handler := served(t, newBook(nil))
	for _, path := range []string{"/api/chat_stream", "/api/chat/", "/api", "/api/feedback/x"} {
		if got := post(t.Context(), handler, path, hello).Code; got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(method, "/api/chat", nil))
		wantRefusal(t, recorder, 405, "method_not_allowed")
		if recorder.Header().Get("Allow") != "POST" {
			t.Errorf("Allow: %s", recorder.Header().Get("Allow"))
		}
	}
}
