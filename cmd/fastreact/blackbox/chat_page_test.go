package blackbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/testdata/pagetest"
)

// newDiagnostician is a model that reads the logs and reports what the question asks it to report.
func newDiagnostician(t *testing.T) *scriptedModel {
	t.Helper()
	m, over := &scriptedModel{}, make(chan struct{})
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := m.take(r)
		switch whole := string(a.raw); {
		case strings.Contains(whole, "outage of the model"):
			http.Error(w, `{"error":{"message":"vendor-error-8812"}}`, http.StatusBadRequest)
		case strings.Contains(whole, "unending outage"):
			select {
			case <-r.Context().Done():
			case <-over:
			}
		case !strings.Contains(whole, "Diagnose"):
			stream(w, said{text: "Hello. Tell me what is slow or broken."})
		case a.step() == 0 && !strings.Contains(whole, `"role":"tool"`):
			stream(w, call("query_logs", `{"query":"timed out"}`))
		default:
			stream(w, said{text: draftOf(whole)})
		}
	}))
	t.Cleanup(m.Close)
	t.Cleanup(func() { close(over) })
	return m
}

// draftOf reports what the evidence in a request shows, or where the question is about a rumour, more than that.
func draftOf(request string) string {
	id := "none"
	if found := regexp.MustCompile(`evidence_id\\*":\s*\\*"([^"\\]+)`).FindStringSubmatch(request); found != nil {
		id = found[1]
	}
	statement := "The checkout timed out after 2400 ms."
	if strings.Contains(request, "rumour") {
		statement = "The checkout timed out after 9999 ms."
	}
	return fmt.Sprintf(`{"summary":"The checkout timed out.","findings":[{"statement":%q,"severity":"critical","evidence_ids":[%q]}],`+
		`"likely_cause":"The checkout waits too long.","recommended_actions":["Look at what the checkout waits for."]}`, statement, id)
}

// TestTheBundledPageAsksTheRealService is the proof that page and service mean the same protocol: a login from the
// command line, a report, an answer, a fallback, a failure and a disconnect.
func TestTheBundledPageAsksTheRealService(t *testing.T) {
	t.Parallel()
	const token = "service-token-of-the-real-page"
	chromium := pagetest.Browser(t)
	logs := t.TempDir()
	line := "2026-11-30T16:40:00Z ERROR checkout upstream timed out after 2400 ms\n"
	if err := os.WriteFile(filepath.Join(logs, "app.log"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, newDiagnostician(t), fmt.Sprintf("harness: {chat: {evidence: {logs: {roots: [%q]}}}}\n", logs),
		"FASTREACT_SERVICE_TOKEN="+token)
	s.token = token
	s.awaitPlugin("evidence-guard")
	s.awaitPlugin("semantic-guard")
	login, err := s.fastreact("ui", "--url", s.url, "--json")
	var address struct{ URL string }
	if err != nil || json.Unmarshal([]byte(login), &address) != nil {
		t.Fatalf("ui: %v\n%s", err, login)
	}
	pagetest.Run(t, 6, pagetest.Bench(t, "", "testdata"), "page.mjs", chromium, "LOGIN="+address.URL, "TOKEN="+s.token, "SERVICE="+s.url)
	s.expectPageRuns()
}

// expectPageRuns looks at what the service remembers of what the page asked, newest first.
func (s *service) expectPageRuns() {
	s.t.Helper()
	_, raw := s.request("GET", "/v1/runs", nil)
	var list struct {
		Runs []struct {
			Status   string
			Metadata struct {
				Identity struct {
					Provider string `json:"auth_provider"`
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		s.t.Fatalf("%v in %s", err, raw)
	}
	got := []string{}
	for _, run := range list.Runs {
		got = append(got, run.Status+" "+run.Metadata.Identity.Provider)
	}
	want := []string{"cancelled ui_session", "failed ui_session", "completed ui_session", "completed ui_session", "completed ui_session"}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("runs (-want +got):\n%s", diff)
	}
}
