package blackbox

import (
	"context"
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

// clientToken is what the clients send as their API key.
const clientToken = "client-token-5520"

// nodeClient runs one of testdata/clients against the service and returns the object that it prints. The script stands
// beside the peers' modules, so that it imports them as an application does.
func (s *service) nodeClient(name string, args ...string) map[string]any {
	s.t.Helper()
	node, modules := peers.Node(s.t), peers.Modules(s.t)
	if _, err := os.Stat(filepath.Join(modules, "eventsource-parser")); err != nil {
		peers.Missing(s.t, "npm clients (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	folder := s.t.TempDir()
	script, err := os.ReadFile(filepath.Join("testdata", "clients", name))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), script, 0o600)
	}
	if err == nil {
		err = os.Symlink(modules, filepath.Join(folder, "node_modules"))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(s.t.Context(), time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, node, append([]string{filepath.Join(folder, name), s.url + "/v1", clientToken}, args...)...)
	printed := &lockedBuffer{}
	command.Stderr = printed
	out, err := command.Output()
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s%s\n%s", name, args, err, out, printed, s.output)
	}
	return s.object(out)
}

// expectClient runs a client in one of its modes and compares what it got. more are further request fields as JSON.
func (s *service) expectClient(name, mode string, want map[string]any, more ...string) {
	s.t.Helper()
	if diff := cmp.Diff(decoded(s.t, want), s.nodeClient(name, append([]string{mode}, more...)...)); diff != "" {
		s.t.Errorf("%s %s (-want +got):\n%s", name, mode, diff)
	}
}

// decoded is what a value is after a trip through JSON.
func decoded(t *testing.T, value map[string]any) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(mustJSON(t, value), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// startForClients runs the service behind its token with a model that searches and answers.
func startForClients(t *testing.T) *service {
	return start(t, newModel(t, searchThenAnswer), "", "FASTREACT_SERVICE_TOKEN="+clientToken)
}

// startWithoutModel runs the service with a model API that is broken.
func startWithoutModel(t *testing.T) *service {
	model := rawModel(t, func(w http.ResponseWriter, _ string, _ int) {
		http.Error(w, vendorDetail, http.StatusInternalServerError)
	})
	return startEdited(t, model, func(text string) string {
		return strings.Replace(text, "name: scripted", "name: scripted, max_retries: 0", 1)
	}, "FASTREACT_SERVICE_TOKEN="+clientToken)
}

// vendorDetail is what the broken model API says and no client must read.
const vendorDetail = "vendor detail 81"

// modelIsDown is what they read instead.
const modelIsDown = "The language model cannot be reached."

func TestTheNodeOpenAIClientGetsTheAnswerOnce(t *testing.T) {
	t.Parallel()
	s := startForClients(t)
	s.expectClient("openai.mjs", "create", map[string]any{"text": scriptedAnswer, "finish": "stop", "total": 30})
	s.expectClient("openai.mjs", "stream", map[string]any{
		"text": scriptedAnswer, "pieces": 1, "roles": []string{"assistant"}, "finish": []string{"stop"},
		"total": []int{30}, "ids": 1,
	})
	s.expectClient("openai.mjs", "helper", map[string]any{
		"text": scriptedAnswer, "heard": scriptedAnswer, "finish": "stop", "total": 30,
	})
	s.expectClient("openai.mjs", "models", map[string]any{"models": []string{"scripted"}})
	if n := len(received(t, s.oracleLog())); n != 3 {
		t.Errorf("the tool ran %d times for three conversations", n)
	}
}

func TestTheNodeOpenAIClientThrowsWhatWentWrong(t *testing.T) {
	t.Parallel()
	refused := map[string]any{
		"thrown": "UnprocessableEntityError", "status": 422, "code": "invalid_request",
		"message": "422 The request is not valid.",
	}
	s := startForClients(t)
	s.expectClient("openai.mjs", "invalid", refused)
	s.expectClient("openai.mjs", "invalidStream", refused)
	failed := map[string]any{"thrown": "APIError", "code": "model_unavailable", "message": modelIsDown}
	s = startWithoutModel(t)
	s.expectClient("openai.mjs", "stream", failed)
	s.expectClient("openai.mjs", "helper", failed)
}

func TestTheAISDKGetsTheAnswerOnce(t *testing.T) {
	t.Parallel()
	s := startForClients(t)
	s.expectClient("ai.mjs", "generate", map[string]any{"text": scriptedAnswer, "finish": "stop", "total": 30})
	s.expectClient("ai.mjs", "stream", map[string]any{
		"text": scriptedAnswer, "pieces": 1, "whole": scriptedAnswer, "finish": "stop", "total": 30,
	})
	if n := len(received(t, s.oracleLog())); n != 2 {
		t.Errorf("the tool ran %d times for two conversations", n)
	}
}

func TestTheAISDKThrowsWhatWentWrong(t *testing.T) {
	t.Parallel()
	refused := map[string]any{"thrown": "AI_APICallError", "status": 422, "message": "The request is not valid."}
	s := startForClients(t)
	s.expectClient("ai.mjs", "invalid", refused)
	s.expectClient("ai.mjs", "invalidStream", refused)
	s = startWithoutModel(t)
	s.expectClient("ai.mjs", "stream", map[string]any{"thrown": "AI_StreamProviderError", "message": modelIsDown})
}

// TestAFailedChatWithoutAStreamIsNoAnswerToNodeClients holds what clients make of the contract's HTTP 200 with an
// error in it: no client takes it for a finished answer.
func TestAFailedChatWithoutAStreamIsNoAnswerToNodeClients(t *testing.T) {
	t.Parallel()
	s := startWithoutModel(t)
	s.expectClient("openai.mjs", "create", map[string]any{"text": "", "finish": nil, "error": modelIsDown})
	s.expectClient("ai.mjs", "generate", map[string]any{"text": "", "finish": "other"})
}

func TestAnEventSourceParserResumesWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	s := startForClients(t)
	s.expectClient("events.mjs", "Question", map[string]any{
		"errors": 0, "same": true, "text": scriptedAnswer, "last": "[DONE]",
		"kinds": []string{"session_start", "think", "tool_call", "step_end", "tool_result", "step_end", "session_end", "done"},
		"ids":   []any{"0", "1", "2", "3", "4", "5", "6", nil},
	})
	if n := len(received(t, s.oracleLog())); n != 1 {
		t.Errorf("the tool ran %d times for one conversation", n)
	}
}

func TestAnEventSourceParserSeesOneErrorAndTheEnd(t *testing.T) {
	t.Parallel()
	s := startWithoutModel(t)
	s.expectClient("events.mjs", "Question", map[string]any{
		"errors": 0, "same": true, "text": "", "last": "[DONE]",
		"kinds": []string{"session_start", "error", "done"}, "ids": []any{"0", "1", nil},
	})
}

func TestAnEventSourceParserIsRefusedInJSON(t *testing.T) {
	t.Parallel()
	s := startForClients(t)
	s.expectClient("events.mjs", "", map[string]any{"status": 400, "body": map[string]any{
		"detail": "The messages hold no user message with text.",
		"error":  map[string]any{"code": "no_user_message", "message": "The messages hold no user message with text."},
	}})
}

func TestNodeClientsGetAnAnswerInPartsOnce(t *testing.T) {
	t.Parallel()
	const answer = "Alpha says so [src_a]. The pier is old.\n\nNothing else is known."
	s := start(t, newModel(t, func(a asked) said {
		if a.step() == 0 {
			return searchThenAnswer(a)
		}
		return said{text: answer}
	}), "", "FASTREACT_SERVICE_TOKEN="+clientToken)
	for name, mode := range map[string]string{"openai.mjs": "stream", "ai.mjs": "stream"} {
		got := s.nodeClient(name, mode, `{"stream_deltas":true}`)
		if pieces, _ := got["pieces"].(float64); got["text"] != answer || pieces < 2 {
			t.Errorf("%s: %v", name, got)
		}
	}
	s.expectClient("openai.mjs", "helper", map[string]any{
		"text": answer, "heard": answer, "finish": "stop", "total": 30,
	}, `{"stream_deltas":true}`)
}
