package blackbox

import (
	"strings"
	"testing"
)

func TestBadInputGetsAStableCodeAndTheServerLives(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	user := `{"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"oversized body", "POST", "/v1/chat/completions", `{"messages":"` + strings.Repeat("a", 2<<20) + `"}`, nil, 413},
		{"malformed JSON", "POST", "/v1/chat/completions", `{"messages":`, nil, 422},
		{"messages of the wrong type", "POST", "/v1/chat/completions", `{"messages":7}`, nil, 422},
		{"no user message", "POST", "/v1/chat/completions", `{"messages":[{"role":"system","content":"x"}]}`, nil, 400},
		{"blank user message", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"  "}]}`, nil, 400},
		{"temperature too high", "POST", "/v1/chat/completions", user + `,"temperature":3}`, nil, 422},
		{"temperature of the wrong type", "POST", "/v1/chat/completions", user + `,"temperature":"hot"}`, nil, 422},
		{"max_tokens zero", "POST", "/v1/runs", user + `,"max_tokens":0}`, nil, 422},
		{"run id with a slash", "POST", "/v1/runs", user + `,"metadata":{"run_id":"a/b"}}`, nil, 422},
		{"stream of the wrong type", "POST", "/v1/chat/completions", user + `,"stream":"yes"}`, nil, 422},
		{"empty scope list", "POST", "/v1/runs", user + `,"tool_policy":{"scope":{"source_item_ids":[" "]}}}`, nil, 422},
		{"unknown scope mode", "POST", "/v1/runs", user + `,"tool_policy":{"scope":{"mode":"open"}}}`, nil, 422},
		{"metadata of 70 kB", "POST", "/v1/runs", user + `,"metadata":{"pad":"` + strings.Repeat("m", 70_000) + `"}}`, nil, 422},
		{"unknown run", "GET", "/v1/runs/nope", "", nil, 404},
		{"unknown run's events", "GET", "/v1/runs/nope/events", "", nil, 404},
		{"unknown trace", "GET", "/v1/traces/nope", "", nil, 404},
		{"cancel of an unknown run", "POST", "/v1/runs/nope/cancel", "{}", nil, 404},
		{"unknown approval", "GET", "/v1/approvals/nope", "", nil, 404},
		{"approve of an unknown approval", "POST", "/v1/approvals/nope/approve", "{}", nil, 404},
		{"negative limit", "GET", "/v1/runs?limit=-1", "", nil, 400},
		{"unknown route", "GET", "/v1/nope", "", nil, 404},
		{"wrong method", "DELETE", "/v1/runs", "", nil, 405},
		{"foreign origin", "GET", "/v1/runs", "", []string{"Origin", "https://evil.example"}, 403},
		{"null origin", "POST", "/v1/runs", user + `}`, []string{"Origin", "null"}, 403},
		{"wrong host", "GET", "/health", "", []string{"Host", "evil.example"}, 403},
		{"wrong content type", "POST", "/v1/runs", user + `}`, []string{"Content-Type", "text/plain"}, 415},
		{"NUL in a message", "POST", "/v1/runs", `{"messages":[{"role":"user","content":"a\u0000b"}]}`, nil, 422},
		{"invalid UTF-8", "POST", "/v1/runs", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\xffb\"}]}", nil, 422},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		status, raw := s.request(c.method, c.path, body, c.headers...)
		if status != c.status {
			t.Errorf("%s: status %d, want %d: %.200s", c.name, status, c.status, raw)
			continue
		}
		failure, _ := s.object(raw)["error"].(map[string]any)
		if code, _ := failure["code"].(string); code == "" {
			t.Errorf("%s: no code in %.200s", c.name, raw)
		}
	}
	if status, _ := s.request("GET", "/health", nil); status != 200 {
		t.Errorf("the server does not live: %d", status)
	}
}

func TestARunIDIsTakenOnce(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, func(asked) said { return said{text: "ok"} }), "")
	body := ask("hi", map[string]any{"metadata": map[string]any{"run_id": "run-once"}})
	if status, raw := s.request("POST", "/v1/runs", body); status != 200 {
		t.Fatalf("first: %d %s", status, raw)
	}
	status, raw := s.request("POST", "/v1/runs", body)
	if status != 409 || !strings.Contains(string(raw), "Run already exists") {
		t.Errorf("second: %d %s", status, raw)
	}
}
