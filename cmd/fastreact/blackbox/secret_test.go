package blackbox

import (
	"strings"
	"testing"
)

const (
	canaryToken = "canary-service-token-93f1"
	canaryKey   = "canary-model-key-27ab"
)

// TestSecretsAppearNowhere plants the service token and the model key and lets every side repeat them.
func TestSecretsAppearNowhere(t *testing.T) {
	t.Parallel()
	model := newModel(t, func(a asked) said {
		if a.step() == 0 {
			return said{calls: []wish{
				{"call_1", "pska_pska_search", `{"query":"` + canaryKey + `"}`},
				{"call_2", "nope_" + canaryToken, `{}`},
				{"call_3", "read_file", `{"path":"` + canaryToken + `"}`},
			}}
		}
		return said{text: "the key is " + canaryKey + " and the token " + canaryToken}
	})
	s := start(t, model, "telemetry: {log_level: debug}\n", "FASTREACT_SERVICE_TOKEN="+canaryToken, "FASTREACT_MODEL_API_KEY="+canaryKey)
	s.token = canaryToken
	var seen strings.Builder
	for _, f := range s.stream(ask("Question", map[string]any{"metadata": map[string]any{"run_id": "run-secret"}})).rest() {
		seen.WriteString(f.raw)
	}
	for _, path := range []string{
		"/ready", "/health", "/v1/models", "/v1/tools", "/v1/policy", "/v1/metrics", "/metrics", "/v1/runs", "/v1/runs/run-secret",
		"/v1/runs/run-secret/events", "/v1/traces", "/v1/traces/run-secret", "/v1/traces/run-secret/events", "/v1/approvals",
	} {
		_, raw := s.request("GET", path, nil)
		seen.Write(raw)
	}
	_, raw := s.request("POST", "/v1/policy/check", `{"tool_name":"exec","tool_args":{"command":"echo `+canaryKey+`"},"user_key":"u"}`)
	seen.Write(raw)
	s.token = "wrong-" + canaryToken
	_, raw = s.request("GET", "/v1/runs", nil)
	seen.Write(raw)
	seen.WriteString(s.output.String())
	for _, canary := range []string{canaryToken, canaryKey} {
		if at := strings.Index(seen.String(), canary); at >= 0 {
			t.Errorf("%s appears: …%.200s…", canary, seen.String()[max(0, at-100):])
		}
	}
	for _, header := range model.auth {
		if header != "Bearer "+canaryKey {
			t.Errorf("the model received the credential %q", header)
		}
	}
	for _, request := range model.requests() {
		if strings.Contains(string(request.raw), canaryToken) {
			t.Errorf("the model received the service token: %s", request.raw)
		}
	}
}
