package blackbox

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestASaturatedWorkerRefusesBeforeARunExists is the seed's "Worker saturation".
func TestASaturatedWorkerRefusesBeforeARunExists(t *testing.T) {
	t.Parallel()
	p := newPatient()
	s := start(t, p.model(t, deskModel), harnessing(t, ", worker: {size: 1, queue: 1}"))
	first := s.enters("/api/chat", `{"query":"Diagnose hold model: true"}`).begun()
	await(t, p.asked, 20*time.Second, "the first question")
	_, line := s.queues("Diagnose another: true")
	if runs := s.runIDs(); len(runs) != 1 || runs[0] != first.run {
		t.Errorf("runs %v, want %s", runs, first.run)
	}
	v := s.chats("Diagnose once more: true")
	const body = `{"code":"CHAT_UNAVAILABLE",`
	if v.status != http.StatusServiceUnavailable || v.header.Get("Retry-After") == "" || !strings.HasPrefix(v.raw, body) {
		t.Errorf("%d %v %s", v.status, v.header, v.raw)
	}
	if n := len(p.asked); n != 0 {
		t.Errorf("the model was asked for %d of them", n)
	}
	close(p.release)
	if all := first.rest(); len(of(all, "done")) != 1 {
		t.Errorf("the first: %v", kinds(all))
	}
	if line := await(t, line, 20*time.Second, "the answer of the one that waited"); !strings.Contains(line, " 200 ") {
		t.Errorf("the one that waited: %s", line)
	}
}

// TestASaturatedModelFailsTheRunInAFixedSentence is the seed's "Model executor saturation".
func TestASaturatedModelFailsTheRunInAFixedSentence(t *testing.T) {
	t.Parallel()
	p := newPatient()
	s := start(t, p.model(t, deskModel), harnessing(t, ", model: {size: 1, queue: 1}"))
	first := s.enters("/api/chat", `{"query":"Diagnose hold model: true"}`).begun()
	await(t, p.asked, 20*time.Second, "the first question")
	ended := make(chan *visit, 6)
	for range cap(ended) {
		go func() { ended <- s.chats("Diagnose another: true") }()
	}
	const want = "metadata, status ROUTING, status PLANNING, failure CHAT_MODEL_SATURATED, done FAILED"
	for range cap(ended) - 1 { // one of them waits for the model
		v := <-ended
		if v.order() != want {
			t.Errorf("%s\n%s", v.order(), v.raw)
		}
		if run := s.stored(v.run()); run["status"] != "failed" {
			t.Errorf("%v", run)
		}
	}
	close(p.release)
	if v := <-ended; v.order() != orderOfReport {
		t.Errorf("the one that waited: %s", v.order())
	}
	if all := first.rest(); len(of(all, "done")) != 1 {
		t.Errorf("the first: %v", kinds(all))
	}
}

// TestARunThatUsesUpItsBudgetFailsInAFixedSentence never stops asking for tools.
func TestARunThatUsesUpItsBudgetFailsInAFixedSentence(t *testing.T) {
	t.Parallel()
	model := newModel(t, func(a asked) said {
		return said{calls: []wish{{fmt.Sprintf("call_%d", len(a.toolResults())), "query_logs", `{"query":"x"}`}}}
	})
	s := start(t, model, harnessing(t, ", max_steps: 3, max_tool_calls: 2"))
	v := s.chats("Diagnose checkout")
	if !strings.HasSuffix(v.order(), "failure CHAT_BUDGET_EXHAUSTED, done FAILED") || len(v.of("content")) != 0 {
		t.Errorf("%s\n%s", v.order(), v.raw)
	}
}

// chatLimits are the keys of harness.chat that hold a limit.
func chatLimits() []string {
	return []string{
		"stream_timeout", "run_timeout", "max_steps", "max_tool_calls", "max_repairs", "max_request_bytes", "max_content_bytes",
		"canonical.ttl", "canonical.max_items", "canonical.max_bytes", "worker.size", "worker.queue",
		"model.size", "model.queue", "model.timeout", "tool.size", "tool.queue", "tool.timeout",
	}
}

// refuses starts the program with settings of harness.chat that it must refuse, and returns what it says.
func refuses(t *testing.T, chat string) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "fastreact.yaml")
	text := fmt.Sprintf("server: {addr: \"127.0.0.1:0\"}\nstore: {path: %q}\nworkspace: {root: %q}\nplugins: {cache_dir: %q}\nharness: {chat: %s}\n",
		filepath.Join(folder, "f.db"), filepath.Join(folder, "ws"), cacheDir(t), chat)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "serve", "--config", file).CombinedOutput()
	if err == nil || strings.Contains(string(out), "listens on") {
		t.Fatalf("started with %s:\n%s", chat, out)
	}
	return string(out)
}

// nested writes one value per dotted key as YAML.
func nested(value func(key string) string) string {
	groups, plain := map[string][]string{}, []string{}
	for _, key := range chatLimits() {
		if group, name, in := strings.Cut(key, "."); in {
			groups[group] = append(groups[group], name+": "+value(key))
		} else {
			plain = append(plain, key+": "+value(key))
		}
	}
	for group, lines := range groups {
		plain = append(plain, group+": {"+strings.Join(lines, ", ")+"}")
	}
	return "{" + strings.Join(plain, ", ") + "}"
}

func TestEveryLimitOfZeroOrBelowIsRefusedAtStartAllAtOnce(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"0", "-1"} {
		out := refuses(t, nested(func(key string) string {
			if strings.HasSuffix(key, "timeout") || strings.HasSuffix(key, "ttl") {
				return bad + "s"
			}
			return bad
		}))
		for _, key := range chatLimits() {
			if !strings.Contains(out, "harness.chat."+key) {
				t.Errorf("%s: %s is not named:\n%s", bad, key, out)
			}
		}
	}
}

func TestEveryBrokenInvariantIsRefusedAtStartAllAtOnce(t *testing.T) {
	t.Parallel()
	out := refuses(t, "{stream_timeout: 10s, run_timeout: 10s, max_content_bytes: 5000, canonical: {ttl: 9s, max_bytes: 4000, max_item_bytes: 4096}}")
	for _, key := range []string{"stream_timeout", "canonical.ttl", "max_content_bytes", "canonical.max_item_bytes"} {
		if !strings.Contains(out, "harness.chat."+key) {
			t.Errorf("%s is not named:\n%s", key, out)
		}
	}
}

// TestADatabaseThatIsNotConfiguredIsNoOtherDatabase is the seed's "MySQL Tool is not configured".
func TestADatabaseThatIsNotConfiguredIsNoOtherDatabase(t *testing.T) {
	t.Parallel()
	asks := []string{`{"datasource":"main","sql":"SELECT 1"}`, `{"datasource":"fastreact","sql":"SELECT * FROM runs"}`, `{"datasource":"","sql":"SELECT * FROM events"}`}
	model := newModel(t, func(a asked) said {
		if n := len(a.toolResults()); len(a.Tools) > 0 && n < len(asks) {
			return said{calls: []wish{{fmt.Sprintf("call_%d", n), "query_mysql", asks[n]}}}
		}
		return said{text: draft("Nothing was found.", "Nothing was found.")}
	})
	s := start(t, model, "")
	v := s.chats("Diagnose the database")
	if v.one("done")["outcome"] != "FALLBACK" {
		t.Errorf("%s", v.order())
	}
	requests := model.requests()
	results := requests[len(requests)-1].toolResults()
	if len(results) != len(asks) {
		t.Fatalf("%d results: %q", len(results), results)
	}
	for i, result := range results {
		if !strings.Contains(result, "UNAVAILABLE") {
			t.Errorf("%s: %q", asks[i], result)
		}
	}
}
