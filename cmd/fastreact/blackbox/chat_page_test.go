package blackbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/testdata/peers"
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
	const chromium, token = "/usr/bin/chromium", "service-token-of-the-real-page"
	if _, err := os.Stat(chromium); err != nil {
		peers.Missing(t, "chromium")
	}
	if _, err := os.Stat(filepath.Join(peers.Modules(t), "playwright-core")); err != nil {
		peers.Missing(t, "playwright-core (npm ci --ignore-scripts --prefix .ci/peers)")
	}
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
	s.browse(chromium, address.URL)
	s.expectPageRuns()
}

// browse runs the test program of the page and makes each of its reports a test of its own.
func (s *service) browse(chromium, login string) {
	s.t.Helper()
	folder := s.t.TempDir()
	for _, file := range []string{filepath.Join("testdata", "page.mjs"), "../../../host/internal/web/console/testdata/report.mjs"} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.Symlink(peers.Modules(s.t), filepath.Join(folder, "node_modules")); err != nil {
		s.t.Fatal(err)
	}
	node := exec.CommandContext(s.t.Context(), peers.Node(s.t), "page.mjs")
	node.Dir = folder
	node.Env = append(os.Environ(), "CHROMIUM="+chromium, "LOGIN="+login, "TOKEN="+s.token, "SERVICE="+s.url)
	complaints := &lockedBuffer{}
	node.Stderr = complaints
	out, err := node.Output()
	if err != nil {
		s.t.Errorf("page.mjs: %v\n%s", err, complaints)
	}
	count := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); count++ {
		var report struct{ Name, Error string }
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			s.t.Fatalf("page.mjs said %q", lines.Text())
		}
		if report.Error != "" {
			s.t.Errorf("%s: %s\n%s", report.Name, report.Error, s.output)
		}
	}
	if count != 6 {
		s.t.Errorf("page.mjs reported %d tests, want 6", count)
	}
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
