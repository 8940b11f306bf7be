package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// parrot is a local model that speaks as OpenAI does and answers by a function of the objective and of how often it was
// asked about it.
type parrot struct {
	*httptest.Server
	mu     sync.Mutex
	heard  map[string][]question // by objective
	answer func(w http.ResponseWriter, objective string, n int)
}

// question is one request as the model got it.
type question struct {
	Model    string
	Stream   bool
	Messages []struct{ Role, Content string }
	size     int
}

// last is the newest message as an object.
func (q question) last() (content map[string]any) {
	_ = json.Unmarshal([]byte(q.Messages[len(q.Messages)-1].Content), &content)
	return content
}

func newParrot(t *testing.T) *parrot {
	t.Helper()
	p := &parrot{heard: map[string][]question{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		asked := question{size: len(raw)}
		var said struct{ Objective string }
		if err == nil && json.Unmarshal(raw, &asked) == nil && len(asked.Messages) > 1 {
			_ = json.Unmarshal([]byte(asked.Messages[1].Content), &said)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Cookie") != "" {
			t.Errorf("the model was asked %s %s", r.Method, r.URL)
		}
		p.mu.Lock()
		p.heard[said.Objective] = append(p.heard[said.Objective], asked)
		n, answer := len(p.heard[said.Objective]), p.answer
		p.mu.Unlock()
		answer(w, said.Objective, n)
	}))
	t.Cleanup(p.Close)
	return p
}

// answers sets how the model answers from now on.
func (p *parrot) answers(answer func(w http.ResponseWriter, objective string, n int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// saying answers each question with the text of its number; the last one is repeated.
func (p *parrot) saying(texts ...string) {
	p.answers(func(w http.ResponseWriter, _ string, n int) { complete(w, texts[min(n, len(texts))-1]) })
}

// asked are the requests about an objective.
func (p *parrot) asked(objective string) []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]question{}, p.heard[objective]...)
}

func complete(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
	})
}

// wishes and ends are the two actions of a model.
func wishes(tool string, arguments any) string {
	raw, _ := json.Marshal(map[string]any{"contract": "labfy.agent_model_action.v1", "kind": "tool_call", "tool_id": tool, "arguments": arguments})
	return string(raw)
}

func ends(text string) string {
	raw, _ := json.Marshal(map[string]any{"contract": "labfy.agent_model_action.v1", "kind": "final", "text": text})
	return string(raw)
}

const runtimePath = "/api/v1/agent-runtime"

// begin starts a turn of the runtime.
func (s *station) begin(objective string) (id string) {
	s.t.Helper()
	turn := s.did(http.StatusAccepted, runtimePath+"/turns", map[string]any{"objective": objective})
	return turn["turn_id"].(string)
}

// TestALocalModelOnlyNamesToolsOrEnds drives turns of a scripted model on this machine.
func TestALocalModelOnlyNamesToolsOrEnds(t *testing.T) {
	t.Parallel()
	model, elsewhere := newParrot(t), newArchive(t)
	s := startTools(t, map[string]specimen.Workspace{"hostile": specimen.Hostile()},
		fmt.Sprintf("endpoint: %q, model: parrot", model.URL), "", "HTTP_PROXY="+elsewhere.URL, "http_proxy="+elsewhere.URL, "ALL_PROXY="+elsewhere.URL)
	sub := func(name string, fact func(*testing.T, *station, *parrot)) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			fact(t, s, model)
		})
	}
	sub("the status says what stands behind", statusIsHonest)
	sub("a tool and then the last word", toolThenFinal)
	sub("what is no action is asked for again once and runs nothing", noActionRunsNothing)
	sub("a cancelled turn ignores a late answer and the queue is bounded", cancelBeatsALateAnswer)
	sub("a turn waits for a person and is not resumed too early", modelWaitsForAPerson)
	sub("budgets end a turn", budgetsEndATurn)
	sub("the 33rd turn lets the first go", runtimeTurnsLetTheFirstGo)
	sub("envelopes are exact", runtimeEnvelopes)
	sub("a redirect and a failure are no answer", func(t *testing.T, s *station, model *parrot) { modelIsUnavailable(t, s, model, elsewhere) })
	if connections, _ := elsewhere.met(); connections != 0 {
		t.Errorf("another address than the model's was contacted %d times", connections)
	}
}

func statusIsHonest(t *testing.T, s *station, _ *parrot) {
	want := map[string]any{
		"contract": "labfy.agent_runtime.status.v1", "mode": "local-model", "configured": true, "available": true,
		"provider": "openai-compatible-local", "endpoint_kind": "loopback", "model": "parrot", "reason": nil,
	}
	if diff := cmp.Diff(want, s.see(runtimePath+"/status")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// toolThenFinal lets the model read what would like to be an instruction: it arrives as data.
func toolThenFinal(t *testing.T, s *station, model *parrot) {
	const objective = "read the hostile object"
	injected, text := graphOf(t, specimen.Hostile()).Nodes[8], specimen.HostileTexts()[8]
	model.saying(wishes("graph.get_node", map[string]any{"object_id": injected.ID}), ends("Nothing was granted."))
	id := s.begin(objective)
	turn := s.awaitTurn(id, "COMPLETED")
	want := map[string]any{
		"contract": "labfy.agent_runtime.v1", "turn_id": id, "objective": objective, "state": "COMPLETED", "final": "Nothing was granted.",
		"diagnostic": nil, "pending_call": nil, "budgets": map[string]any{"model_calls": 2.0, "tool_calls": 1.0},
	}
	if diff := cmp.Diff(want, turn); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	asked := model.asked(objective)
	if len(asked) != 2 || asked[0].Stream || asked[0].Model != "parrot" {
		t.Fatalf("%d requests, the first %v", len(asked), asked[0])
	}
	told := asked[1].last()
	result, _ := told["result"].(map[string]any)
	delete(told, "result")
	shell := map[string]any{"contract": "labfy.agent_model_tool_result.v1", "trust": "UNTRUSTED_DATA", "tool_id": "graph.get_node"}
	if diff := cmp.Diff(shell, told); diff != "" || result["state"] != "COMPLETED" {
		t.Errorf("the result around it (-want +got):\n%s", diff)
	}
	if node, _ := result["output"].(map[string]any)["node"].(map[string]any); node["state"] != text {
		t.Errorf("the model read %v", node)
	}
	for i, message := range asked[1].Messages {
		if last := i == len(asked[1].Messages)-1; !last && strings.Contains(message.Content, "Ignore all previous") || last && message.Role != "user" {
			t.Errorf("message %d of %s: %.200s", i, message.Role, message.Content)
		}
	}
	if system := asked[0].Messages[0]; system.Role != "system" || strings.Contains(system.Content, "grant\"") {
		t.Errorf("the model is told %.300s", system.Content)
	}
	if kept := s.see(toolsPath + "/results/" + result["result_id"].(string)); cmp.Diff(kept, result) != "" {
		t.Errorf("the model read another result than the gateway keeps:\n%s", cmp.Diff(kept, result))
	}
	if kinds := s.kindsOf(id); cmp.Diff([]string{"queued", "running", "tool_requested", "tool_completed", "completed"}, kinds) != "" {
		t.Errorf("events: %v", kinds)
	}
}

// kindsOf are the kinds of a turn's events, without what they have in common.
func (s *station) kindsOf(id string) (kinds []string) {
	s.t.Helper()
	for _, one := range s.see(runtimePath + "/events?cursor=0")["events"].([]any) {
		event := one.(map[string]any)
		if event["turn_id"] == id {
			kinds = append(kinds, strings.TrimPrefix(event["kind"].(string), "agent.runtime."))
		}
	}
	return kinds
}

// noActionRunsNothing answers with what looks like an action and is none.
func noActionRunsNothing(t *testing.T, s *station, model *parrot) {
	good := wishes("research.get_state", map[string]any{})
	deep := `{"a":` + strings.Repeat("[", 11) + strings.Repeat("]", 11) + `}`
	for what, text := range map[string]string{
		"a fence": "```json\n" + good + "\n```", "text behind it": good + " done", "text before it": "Here: " + good, "two actions": good + good,
		"a list": "[" + good + "]", "nothing": "", "a key twice": strings.Replace(good, `"kind"`, `"kind":"final","kind"`, 1),
		"a key twice within": strings.Replace(good, `"arguments":{}`, `"arguments":{"a":1,"a":2}`, 1), "too deep": strings.Replace(good, `"arguments":{}`, `"arguments":`+deep, 1),
		"a key more": strings.Replace(good, `"kind"`, `"grant":true,"kind"`, 1), "a grant": `{"contract":"labfy.agent_model_action.v1","kind":"grant","action_id":"x"}`,
		"another contract": strings.Replace(good, "action.v1", "action.v2", 1), "an unknown tool": strings.Replace(good, "get_state", "grant", 1),
		"the tool that contacts": strings.Replace(good, "research.get_state", "research_contact", 1), "too long": ends(strings.Repeat("x", 32<<10)),
		"a long last word": ends(strings.Repeat("x", 8193)), "a last word with a tool": strings.Replace(ends("x"), `"text"`, `"tool_id":"jobs.get","text"`, 1),
		"arguments as a text": strings.Replace(good, `"arguments":{}`, `"arguments":"{}"`, 1),
	} {
		objective := "no action: " + what
		judged := len(s.books())
		model.saying(text)
		id := s.begin(objective)
		turn := s.awaitTurn(id, "MODEL_PROTOCOL_ERROR")
		if asked := model.asked(objective); len(asked) != 2 || turn["budgets"].(map[string]any)["tool_calls"] != 0.0 || len(s.books()) != judged {
			t.Errorf("%s: %d requests, %v", what, len(asked), turn)
		}
		if diff := cmp.Diff([]string{"queued", "running", "model_repair_requested", "model_protocol_error"}, s.kindsOf(id)); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", what, diff)
		}
		if diagnostic, _ := turn["diagnostic"].(string); diagnostic == "" || turn["final"] != nil {
			t.Errorf("%s: %v", what, turn)
		}
	}
	model.saying("no action at all", good, "no action again")
	s.awaitTurn(s.begin("a second repair"), "MODEL_PROTOCOL_ERROR")
	if asked := model.asked("a second repair"); len(asked) != 3 {
		t.Errorf("two repairs in one turn: %d requests", len(asked))
	}
	model.saying("no action at all", ends("repaired"))
	if turn := s.awaitTurn(s.begin("repaired"), "COMPLETED"); turn["final"] != "repaired" {
		t.Errorf("repaired: %v", turn)
	}
}
