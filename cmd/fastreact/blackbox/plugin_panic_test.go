package blackbox

import (
	"strings"
	"testing"
	"time"
)

// blabbed is what the misbehaving plugin writes to its streams and panics with when it blabs. It spells it at run time.
const blabbed = "canary-from-a-guest"

// blab is a model that makes the misbehaving plugin blab as the policy, as the scope plugin or as the tool.
func blab(a asked) said {
	if a.step() > 0 {
		return said{text: "done"}
	}
	return said{calls: []wish{
		{"call_1", "pska_pska_search", `{"query":"q","behave":"blab"}`}, {"call_2", "misbehave", `{"behave":"blab"}`},
	}}
}

func TestWhatAGuestPanicsWithIsNowhere(t *testing.T) {
	t.Parallel()
	for kind, question := range map[string]map[string]any{"policy": nil, "scope": inside(), "tool": nil} {
		t.Run(kind, func(t *testing.T) {
			model := newModel(t, blab)
			s := start(t, model, loading(t, kind, "")+"telemetry: {log_level: debug}\n", "FASTREACT_ADMIN_TOKEN=admin-token")
			until(t, time.Minute, func() (bool, string) {
				_, raw := s.request("GET", "/ready", nil)
				return !strings.Contains(string(raw), `"loading"`), string(raw)
			})
			question := ask("go", question)
			question["metadata"] = map[string]any{"run_id": "run-blab"}
			var seen strings.Builder
			failed := 0
			for _, f := range s.stream(question).rest() {
				seen.WriteString(f.raw)
				failed += strings.Count(f.raw, "plugin_trap")
			}
			if failed == 0 {
				t.Fatalf("the plugin did not fail:\n%s", seen.String())
			}
			s.token = "admin-token"
			for _, path := range []string{
				"/ready", "/v1/metrics", "/metrics", "/v1/runs/run-blab", "/v1/runs/run-blab/events",
				"/v1/traces/run-blab", "/v1/traces/run-blab/events", "/v1/audit/export",
			} {
				_, raw := s.request("GET", path, nil)
				seen.Write(raw)
			}
			for _, request := range model.requests() {
				seen.Write(request.raw)
			}
			seen.WriteString(s.output.String())
			if at := strings.Index(seen.String(), blabbed); at >= 0 {
				t.Errorf("it appears: …%.300s…", seen.String()[max(0, at-200):])
			}
		})
	}
}
