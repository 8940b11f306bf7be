package blackbox

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingStaysBehindOfClientsThatLeft lets clients leave in each phase of a run and then counts goroutines and open
// files of the service.
func TestNothingStaysBehindOfClientsThatLeft(t *testing.T) {
	model := rawModel(t, nil)
	model.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := model.take(r)
		if strings.HasPrefix(a.question(), "think") {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		if a.question() == "bump" {
			stream(w, bumpThenAnswer(a))
			return
		}
		stream(w, queryTheQuestion(a))
	})
	s := startLying(t, model, approvalConfig("60s")+"workers: {chat: 100}\n")
	s.stream(ask("warm up", nil)).rest()
	s.awaitReady() // a plugin that is loaded meanwhile holds files too
	before := s.openFiles()
	for round := range 10 {
		for _, phase := range []struct{ question, until string }{
			{"think", "session_start"}, {"hang", "tool_call"}, {"bump", "ask_user"},
		} {
			id := fmt.Sprintf("%s-%d", phase.question, round)
			s.leaveAfter(id, phase.question, phase.until)
			s.awaitStatus(id, "cancelled")
		}
	}
	http.DefaultClient.CloseIdleConnections()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(10 * time.Second); s.openFiles() > before+2; {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%d open files, before %d", s.openFiles(), before)
		}
	}
	_ = s.command.Process.Signal(syscall.SIGQUIT)
	awaitGone(t, s.command.Process.Pid)
	dump := s.output.String()
	if n := len(regexp.MustCompile(`(?m)^goroutine \d+ `).FindAllString(dump, -1)); n == 0 || n > 85 { // 20 of them serve guarded runs; one left behind by each client were 30 more
		t.Errorf("%d goroutines\n%s", n, dump)
	}
}

func (s *service) openFiles() int {
	s.t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.command.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(files)
}

// leaveAfter starts a chat run and closes the connection once an event of the kind came.
func (s *service) leaveAfter(id, question, kind string) {
	s.t.Helper()
	ctx, leave := context.WithCancel(s.t.Context())
	defer leave()
	body := mustJSON(s.t, ask(question, map[string]any{"metadata": map[string]any{"run_id": id}}))
	request, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/chat/completions", strings.NewReader(string(body)))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	newFrames(s.t, io.NopCloser(response.Body)).until(kind)
}

// TestAServersOwnSecretIsMaskedWhenItEchoesIt plants a secret in the server's environment, which the server tells.
func TestAServersOwnSecretIsMaskedWhenItEchoesIt(t *testing.T) {
	const canary = "canary-server-secret-77c0"
	model := newModel(t, queryTheQuestion)
	s := &service{t: t, folder: t.TempDir(), env: []string{"PLANTED=" + canary}}
	s.config = s.folder + "/fastreact.yaml"
	text := config(t, s.folder, model, "telemetry: {log_level: debug}\n")
	text = strings.Replace(text, "env: {BLACKBOX_MCP_LOG: ", fmt.Sprintf("env_from: {PASSED: PLANTED}, env: {BLACKBOX_MCP_LIES: %q, BLACKBOX_MCP_LOG: ", s.folder), 1)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	var seen strings.Builder
	for _, f := range s.stream(ask("environment", map[string]any{"metadata": map[string]any{"run_id": "told"}})).rest() {
		seen.WriteString(f.raw)
	}
	if !strings.Contains(seen.String(), "PASSED=[redacted]") {
		t.Errorf("the server was not given its secret: %s", seen.String())
	}
	for _, path := range []string{"/v1/runs/told/events", "/v1/traces/told", "/v1/traces/told/events", "/v1/metrics", "/metrics", "/ready"} {
		_, raw := s.request("GET", path, nil)
		seen.Write(raw)
	}
	seen.WriteString(s.output.String())
	if strings.Contains(seen.String(), canary) {
		t.Errorf("the secret appears")
	}
	for _, request := range model.requests() {
		if strings.Contains(string(request.raw), canary) {
			t.Errorf("the model read the server's secret")
		}
	}
}
