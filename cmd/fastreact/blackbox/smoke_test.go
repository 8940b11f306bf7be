package blackbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// betaWords are text of the knowledge base that the run must not see; its user may read every word of it.
var betaWords = []string{"sixteen rubber wheels", "62 centimetres", "clear. Fog from the valley", "red filter", "312 double stars"}

// betaCanaries are that text and the ids beside it.
func betaCanaries() []string { return append([]string{"src_beta", "kb_beta"}, betaWords...) }

// knowledgeTools are the tools of the example server, by registered name.
var knowledgeTools = []string{
	"pska_pska_search", "pska_pska_agentic_search", "pska_pska_index_status", "pska_pska_read_evidence_context",
	"pska_pska_graph_context", "pska_pska_digest_context", "pska_pska_ingest_channel_payload", "pska_pska_extract_all",
	"pska_pska_review_items",
}

// betaSeekers are arguments of a model that wants the other knowledge base, in every way there is to name it.
var betaSeekers = []string{
	`{"query":"lantern"}`,
	`{"query":"lantern","top_k":50,"knowledge_base_ids":[]}`,
	`{"query":"lantern","knowledge_base_ids":["kb_beta"]}`,
	`{"query":"lantern","knowledge_base_ids":["kb_alpha","kb_beta"],"scope_mode":"soft"}`,
	`{"query":"lantern","knowledge_base_ids":"kb_beta","source_item_ids":"src_beta_dome"}`,
	`{"query":"lantern","knowledge_base_id":"kb_beta","source_item_id":"src_beta_night"}`,
	`{"query":"lantern","source_item_ids":["src_beta_dome","src_alpha_quay"]}`,
	`{"query":"lantern","source_item_ids":[["src_beta_dome"]],"knowledge_base_ids":{"a":"kb_beta"}}`,
	`{"query":"lantern","source_refs":["src_beta_dome",{"source_item_id":"src_beta_night"},{"source_ref":"src_alpha_quay"}]}`,
	`{"query":"lantern","scope":{"mode":"soft","knowledge_base_ids":["kb_beta"],"source_item_ids":["src_beta_dome"]}}`,
	`{"query":"lantern","scope":"kb_beta","mode":"soft"}`,
	`{"query":"lantern","scope":{"scope":{"knowledge_base_ids":["kb_beta"]},"Source_Item_Ids":["src_beta_dome"]}}`,
	`{"query":"lantern","Knowledge_Base_IDs":["kb_beta"],"SOURCE_ITEM_IDS":["src_beta_dome"],"Scope_Mode":"soft"}`,
	`{"query":"lantern","knowledge_base_ids":["kb_alpha"],"knowledge_base_ids":["kb_beta"]}`,
	`{"query":"lantern","filter":{"knowledge_base_ids":["kb_beta"],"source_item_ids":["src_beta_dome"]}}`,
	`{"query":"lantern","knowledge_base_ids":null,"source_item_ids":null,"scope":null,"scope_mode":null}`,
	`{"title":"t","text":"x","knowledge_base_id":"kb_beta","query":"lantern"}`,
	`{"action":"list","knowledge_base_ids":["kb_beta"],"user_id":"user_second","owner_user_id":"user_second"}`,
}

// seekBeta calls one tool with every widening.
func seekBeta(tool string) said {
	var s said
	for i, args := range betaSeekers {
		s.calls = append(s.calls, wish{fmt.Sprintf("%s_%d", tool, i), tool, args})
	}
	return s
}

// seekSome calls every tool with a few of the widenings, each of which is tried on some tool.
func seekSome() said {
	var s said
	for i, tool := range knowledgeTools {
		for j, args := range betaSeekers {
			if (i+j)%5 == 0 {
				s.calls = append(s.calls, wish{fmt.Sprintf("call_%d_%d", i, j), tool, args})
			}
		}
	}
	return s
}

// startKnowledge runs the service with the example knowledge server and a model that seeks: asked for everything, it
// takes one tool in each step.
func startKnowledge(t *testing.T) *service {
	model := newModel(t, func(a asked) said {
		turn := a.step() / len(betaSeekers)
		switch {
		case a.question() == "every" && turn < len(knowledgeTools):
			return seekBeta(knowledgeTools[turn])
		case a.question() == "some" && a.step() == 0:
			return seekSome()
		}
		return said{text: "The pier has a lantern."}
	})
	server := regexp.MustCompile(`(?m)^    - \{name: pska.*$`)
	return startEdited(t, model, func(text string) string {
		return server.ReplaceAllString(text, fmt.Sprintf("    - {name: pska, command: %q}", knowledge)) + "agent: {max_tool_calls: 1000}\n"
	})
}

// alphaScope is what the caller selected: one knowledge base, and within it some notes or all of them.
func alphaScope(sources ...any) map[string]any {
	scope := map[string]any{"mode": "hard", "scope_mode": "hard", "knowledge_base_ids": []any{"kb_alpha"}}
	if len(sources) > 0 {
		scope["source_item_ids"] = sources
	}
	return map[string]any{"scope": scope}
}

// expectSmoke asserts what PSKA's scope smoke asserts of the events of a run: its calls stay inside the scope, within
// the sources where there are any, and none of the canaries stands anywhere. It returns how many calls it saw.
func expectSmoke(t *testing.T, events []map[string]any, canaries []string, sources ...any) (calls int) {
	t.Helper()
	for _, event := range events {
		if name, _ := event["tool_name"].(string); event["type"] == "tool_call" && strings.HasPrefix(name, "pska_") {
			calls++
			expectInScope(t, event, sources)
		}
		for _, id := range asList(event["cited_source_ids"]) {
			if id := id.(string); !strings.HasPrefix(id, "src_alpha") && !strings.HasPrefix(id, "src_in_") {
				t.Errorf("%s cites %s", event["event_id"], id)
			}
		}
		raw := string(mustJSON(t, event))
		for _, canary := range canaries {
			if strings.Contains(raw, canary) {
				t.Errorf("%q stands in %s", canary, raw)
			}
		}
	}
	return calls
}

func expectInScope(t *testing.T, call map[string]any, sources []any) {
	t.Helper()
	args, metadata := call["tool_args"].(map[string]any), call["metadata"].(map[string]any)
	policy, _ := metadata["tool_policy"].(map[string]any)
	scope, _ := policy["scope"].(map[string]any)
	got := []any{args["knowledge_base_ids"], args["scope_mode"], metadata["tool_policy_scope_applied"], scope["knowledge_base_ids"]}
	if diff := cmp.Diff([]any{[]any{"kb_alpha"}, "hard", true, []any{"kb_alpha"}}, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", call["tool_name"], call["event_id"], diff)
	}
	for _, id := range asList(args["source_item_ids"]) {
		if sources != nil && !slices.Contains(sources, id) {
			t.Errorf("%s asks for %s", call["event_id"], id)
		}
	}
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// decodedEvents are the events of a stream, without its end.
func decodedEvents(t *testing.T, all []frame) []map[string]any {
	t.Helper()
	var events []map[string]any
	for _, f := range all {
		if f.event != "done" {
			events = append(events, f.json(t))
		}
	}
	return events
}

func TestTheScopeSmokeHoldsForEveryToolAndEveryWidening(t *testing.T) {
	t.Parallel()
	s := startKnowledge(t)
	sources := []any{"src_alpha_lantern", "src_alpha_quay", "src_alpha_harbour"}
	all := s.stream(ask("every", map[string]any{"tool_policy": alphaScope(sources...)})).rest()
	want := len(knowledgeTools) * len(betaSeekers)
	if calls := expectSmoke(t, decodedEvents(t, all), betaCanaries(), sources...); calls != want {
		t.Errorf("%d calls, want %d: %v", calls, want, kinds(all))
	}
	if found := strings.Count(string(mustJSON(t, decodedEvents(t, all))), "lens was ground"); found == 0 {
		t.Error("no call found anything inside the scope")
	}
}

// TestTheScopeSmokeHoldsForAKnowledgeBaseAlone selects no sources. Then the model may name any, as nobody but the
// server knows where they belong, and still reads nothing of another knowledge base.
func TestTheScopeSmokeHoldsForAKnowledgeBaseAlone(t *testing.T) {
	t.Parallel()
	s := startKnowledge(t)
	all := s.stream(ask("some", map[string]any{"tool_policy": alphaScope()})).rest()
	if calls := expectSmoke(t, decodedEvents(t, all), betaWords); calls != len(seekSome().calls) {
		t.Errorf("%d calls: %v", calls, kinds(all))
	}
}

func TestTheScopeSmokeHoldsWithoutAStream(t *testing.T) {
	t.Parallel()
	s := startKnowledge(t)
	status, raw := s.request("POST", "/v1/chat/completions", ask("some", map[string]any{
		"stream": false, "tool_policy": alphaScope("src_alpha_lantern"),
	}))
	if status != 200 {
		t.Fatalf("%d %s", status, raw)
	}
	var answer struct {
		Events    []map[string]any `json:"events"`
		ToolCalls []map[string]any `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	calls := expectSmoke(t, answer.Events, betaCanaries(), "src_alpha_lantern")
	if calls == 0 || calls != len(answer.ToolCalls) {
		t.Errorf("%d calls in the events, %d beside them", calls, len(answer.ToolCalls))
	}
	for _, one := range answer.ToolCalls {
		if diff := cmp.Diff([]any{"kb_alpha"}, one["tool_args"].(map[string]any)["knowledge_base_ids"]); diff != "" {
			t.Errorf("%v (-want +got):\n%s", one, diff)
		}
	}
}

func TestTheScopeSmokeHoldsInTheBackground(t *testing.T) {
	t.Parallel()
	s := startKnowledge(t)
	s.request("POST", "/v1/runs", ask("some", map[string]any{
		"tool_policy": alphaScope("src_alpha_lantern"), "metadata": map[string]any{"run_id": "smoke", "pska_user_id": "user_primary"},
	}))
	s.awaitStatus("smoke", "completed")
	for _, path := range []string{"/v1/runs/smoke/events", "/v1/traces/smoke/events"} {
		_, raw := s.request("GET", path+"?limit=1000", nil)
		var page struct {
			Events []map[string]any `json:"events"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		if calls := expectSmoke(t, page.Events, betaCanaries(), "src_alpha_lantern"); calls == 0 {
			t.Errorf("%s shows no call: %.300s", path, raw)
		}
	}
}

// TestTheScopeSmokeWouldSeeALeak asks without a scope: then the other knowledge base's text does stand in the stream.
func TestTheScopeSmokeWouldSeeALeak(t *testing.T) {
	t.Parallel()
	s := startKnowledge(t)
	all := string(mustJSON(t, raws(s.stream(ask("some", nil)).rest())))
	for _, canary := range betaWords {
		if !strings.Contains(all, canary) {
			t.Errorf("%q is not to be seen even without a scope", canary)
		}
	}
}
