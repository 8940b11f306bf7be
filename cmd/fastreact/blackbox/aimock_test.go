package blackbox

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/testdata/peers"
)

// aimock is a model API that others wrote, with a strict vendor's rules in front.
type aimock struct {
	*strictModel
	t      *testing.T
	direct string // its own address, for its controls
}

// newAimock starts aimock with the fixtures of testdata.
func newAimock(t *testing.T, env ...string) *aimock {
	t.Helper()
	fixtures, err := filepath.Abs(filepath.Join("testdata", "aimock"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(peers.Node(t), npmPeer(t, "llmock"), "-p", "0", "-f", fixtures, "--log-level", "info")
	command.Env = append(os.Environ(), env...)
	output := &lockedBuffer{}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = command.Wait(); close(exited) }()
	t.Cleanup(func() { _ = command.Process.Kill(); <-exited })
	a := &aimock{t: t}
	(&service{t: t, output: output}).await(30*time.Second, func() (bool, string) {
		a.direct = bound.FindString(output.String())
		return a.direct != "", "aimock does not listen"
	})
	a.strictModel = strict(t, a.direct)
	return a
}

// impatient is a service that asks aimock, waits a second for a silent model and tries twice more.
func (a *aimock) impatient(env ...string) *service {
	return startEdited(a.t, a.scriptedModel, func(config string) string {
		return strings.Replace(config, "first_byte_timeout: 20s", "first_byte_timeout: 2s, idle_timeout: 1s, max_retries: 2", 1)
	}, env...)
}

// control calls aimock's own routes.
func (a *aimock) control(method, path, body string) []byte {
	a.t.Helper()
	status, raw := (&service{t: a.t, url: a.direct, output: &lockedBuffer{}}).request(method, path, body)
	if status != http.StatusOK {
		a.t.Fatalf("%s %s: %d %s", method, path, status, raw)
	}
	return raw
}

// statuses are what aimock answered to the requests in which a question is the last user message.
func (a *aimock) statuses(question string) []int {
	a.t.Helper()
	var journal []struct {
		Body     asked `json:"body"`
		Response struct {
			Status int `json:"status"`
		} `json:"response"`
	}
	if err := json.Unmarshal(a.control("GET", "/__aimock/journal", ""), &journal); err != nil {
		a.t.Fatal(err)
	}
	var all []int
	for _, entry := range journal {
		if entry.Body.question() == question {
			all = append(all, entry.Response.Status)
		}
	}
	return all
}

// end is the last event of a run, and everything it showed.
func (s *service) end(question string, more map[string]any) (last map[string]any, all []frame) {
	s.t.Helper()
	all = s.stream(ask(question, more)).rest()
	if len(all) < 3 || all[len(all)-1].event != "done" {
		s.t.Fatalf("%s: events %v", question, kinds(all))
	}
	for _, f := range all {
		if strings.Contains(f.raw, "vendor words") {
			s.t.Errorf("%s: a vendor's words are in %s", question, f.raw)
		}
	}
	return all[len(all)-2].json(s.t), all
}

func TestAModelOfOthersMakesParallelCallsAndThinks(t *testing.T) {
	t.Parallel()
	a := newAimock(t)
	s := a.impatient()
	last, all := s.end("both", nil)
	want := []string{
		"session_start", "think", "tool_call", "tool_call", "step_end", "tool_result", "tool_result", "step_end",
		"session_end", "done",
	}
	if diff := cmp.Diff(want, kinds(all)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	if last["content"] != "Alpha is one. The count went up." {
		t.Errorf("answer %v", last["content"])
	}
	metadata, _ := last["metadata"].(map[string]any)
	total := map[string]any{"prompt_tokens": 41.0, "completion_tokens": 16.0, "total_tokens": 57.0}
	if diff := cmp.Diff(total, metadata["llm_usage_total"]); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	var ids []any
	for _, f := range append(of(all, "tool_call"), of(all, "tool_result")...) {
		ids = append(ids, f.json(t)["tool_call_id"])
	}
	if diff := cmp.Diff([]any{"call_search", "call_bump", "call_search", "call_bump"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{200, 200}, a.statuses("both")); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestReasoningGoesBackWithTheMessageItCameWith(t *testing.T) {
	t.Parallel()
	a := newAimock(t)
	a.impatient().end("both", nil)
	var sent struct {
		Messages []spoken `json:"messages"`
	}
	requests := a.requests()
	if err := json.Unmarshal(requests[len(requests)-1].raw, &sent); err != nil {
		t.Fatal(err)
	}
	returned := ""
	for _, message := range sent.Messages {
		if len(message.Calls) > 0 {
			returned = message.Reasoning
		}
	}
	if returned != "Two things are asked. I need two calls." {
		t.Errorf("reasoning %q", returned)
	}
}

func TestAModelThatIsBusyOrStumblesIsAskedAgain(t *testing.T) {
	t.Parallel()
	a := newAimock(t)
	s := a.impatient()
	for question, want := range map[string]struct {
		answer   string
		statuses []int
	}{
		"busy": {"Now there was time.", []int{429, 200}}, "stumbles": {"Up again.", []int{500, 200}},
	} {
		last, _ := s.end(question, nil)
		if last["type"] != "session_end" || last["content"] != want.answer {
			t.Errorf("%s ended with %v %v", question, last["type"], last["content"])
		}
		if diff := cmp.Diff(want.statuses, a.statuses(question)); diff != "" {
			t.Errorf("%s: journal (-want +got):\n%s", question, diff)
		}
	}
}

func TestABrokenModelFailsTheRunInOurOwnWords(t *testing.T) {
	t.Parallel()
	a := newAimock(t)
	s := a.impatient()
	for question, want := range map[string]struct {
		code     string
		requests int
	}{
		"broken":       {"model_unavailable", 3},
		"truncated":    {"model_protocol", 1},
		"disconnected": {"model_protocol", 1},
		"calls cut":    {"model_protocol", 1},
		"silent":       {"model_timeout", 1},
	} {
		last, all := s.end(question, map[string]any{"stream_deltas": true})
		metadata, _ := last["metadata"].(map[string]any)
		if last["type"] != "error" || metadata["code"] != want.code {
			t.Errorf("%s ended with %v %v", question, last["type"], metadata)
		}
		if len(of(all, "tool_call"))+len(of(all, "session_end"))+len(of(all, "answer_delta")) > 0 {
			t.Errorf("%s: events %v", question, kinds(all))
		}
		if got := len(a.statuses(question)); got != want.requests {
			t.Errorf("%s: %d requests, want %d", question, got, want.requests)
		}
	}
	if strings.Contains(s.output.String(), "Alpha") || !strings.Contains(s.output.String(), "run failed") {
		t.Errorf("the log says\n%s", s.output)
	}
}

func TestMalformedArgumentsGoBackToTheModelAndNeverToATool(t *testing.T) {
	t.Parallel()
	a := newAimock(t)
	s := a.impatient()
	last, all := s.end("malformed", nil)
	if last["content"] != "I wrote that badly." {
		t.Errorf("answer %v", last["content"])
	}
	result, _ := of(all, "tool_result")[0].json(t)["content"].(string)
	if !strings.Contains(result, "invalid_tool_args") {
		t.Errorf("result %s", result)
	}
	if got := received(t, s.oracleLog()); len(got) != 0 {
		t.Errorf("the tool was called: %s", got)
	}
}

func TestChaosAtRunTimeIsSurvived(t *testing.T) {
	t.Parallel()
	a := newAimock(t)
	s := a.impatient()
	for chaos, code := range map[string]string{
		`{"rateLimitRate":1}`: "model_saturated", `{"dropRate":1}`: "model_unavailable", `{"malformedRate":1}`: "model_protocol",
		`{"disconnectRate":1}`: "model_unavailable", `{"latencyMs":4000}`: "model_timeout",
	} {
		a.control("POST", "/__aimock/chaos", chaos)
		last, all := s.end("hello", nil)
		metadata, _ := last["metadata"].(map[string]any)
		if last["type"] != "error" || metadata["code"] != code || len(of(all, "session_end")) > 0 {
			t.Errorf("%s: %v %v", chaos, last["type"], metadata)
		}
		a.control("DELETE", "/__aimock/chaos", "")
		if last, _ = s.end("hello", nil); last["content"] != "Good day." {
			t.Errorf("after %s: %v", chaos, last["content"])
		}
	}
}

func TestAKeyThatTheModelRefusesIsNamedToTheOperator(t *testing.T) {
	t.Parallel()
	a := newAimock(t, "AIMOCK_API_KEYS=the-right-key")
	s := a.impatient("FASTREACT_MODEL_API_KEY=the-wrong-key-canary")
	last, all := s.end("hello", nil)
	metadata, _ := last["metadata"].(map[string]any)
	if metadata["code"] != "model_credentials" || last["content"] != "The language model does not accept this service's credentials." {
		t.Errorf("%v %v", last["content"], metadata)
	}
	for _, shown := range append(raws(all), s.output.String()) {
		if strings.Contains(shown, "the-wrong-key-canary") {
			t.Errorf("the key shows in %s", shown)
		}
	}
	if !strings.Contains(s.output.String(), "model_credentials") {
		t.Errorf("the log does not say so:\n%s", s.output)
	}
}
