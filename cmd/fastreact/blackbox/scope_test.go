package blackbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scoped is the tool_policy of a caller that selected one knowledge base and two sources.
func scoped(mode string) map[string]any {
	return map[string]any{"scope": map[string]any{
		"mode": mode, "scope_mode": mode,
		"knowledge_base_ids": []any{"kb_a"}, "source_item_ids": []any{"src_a", "src_b"},
	}}
}

// wideners are arguments of a model that tries to see more than it may.
func wideners() []string {
	return []string{
		`{"query":"q"}`,
		`{"query":"q","knowledge_base_ids":["kb_evil"]}`,
		`{"query":"q","knowledge_base_ids":"kb_evil","source_item_ids":"src_evil"}`,
		`{"query":"q","source_item_ids":["src_evil","src_b"]}`,
		`{"query":"q","scope":{"knowledge_base_ids":["kb_evil"],"source_item_ids":["src_evil","src_a"],"mode":"soft"}}`,
		`{"query":"q","scope":"kb_evil"}`,
		`{"query":"q","source_refs":[{"source_item_id":"src_evil"},"src_evil2",{"source_ref":"src_a"}]}`,
		`{"query":"q","user_id":"user_evil","owner_user_id":"user_evil","represented_user_id":"user_evil","tenant_id":"evil"}`,
		`{"query":"q","scope_mode":"soft","Knowledge_Base_IDs":["kb_evil"],"SOURCE_ITEM_IDS":["src_evil"],"USER_ID":"user_evil"}`,
		`{"query":"q","knowledge_base_ids":["kb_a"],"knowledge_base_ids":["kb_evil"]}`,
		`{"query":"q","source_item_ids":[["src_evil"]],"knowledge_base_ids":{"a":"kb_evil"}}`,
		`{"query":"q","scope":{"scope":{"knowledge_base_ids":["kb_evil"]},"Source_Item_Ids":["src_evil"],"source_refs":["src_evil"]}}`,
		`{"query":"q","source_item_ids":["src_evil"]}`,
		`{"query":"q","source_item_ids":null,"knowledge_base_ids":null,"scope":null}`,
	}
}

// fuzzed mixes the wideners' keys at random; the seed is fixed, so that a failure can be repeated.
func fuzzed(n int) []string {
	random := rand.New(rand.NewPCG(7, 11))
	keys := []string{"knowledge_base_ids", "source_item_ids", "scope", "source_refs", "scope_mode", "user_id", "Source_Item_Ids", "user_key"}
	values := []string{`"kb_evil"`, `["src_evil"]`, `["src_a","src_evil"]`, `null`, `7`, `{"source_item_ids":["src_evil"],"user_id":"user_evil"}`, `[{"source_item_id":"src_evil"}]`, `"user_evil"`, `true`, `[]`, `{}`}
	var all []string
	for range n {
		parts := []string{`"query":"q"`}
		for range 1 + random.IntN(4) {
			parts = append(parts, fmt.Sprintf("%q:%s", keys[random.IntN(len(keys))], values[random.IntN(len(values))]))
		}
		parts = append(parts, fmt.Sprintf(`"filter":{%q:%s}`, keys[random.IntN(len(keys))], values[random.IntN(len(values))]))
		all = append(all, "{"+strings.Join(parts, ",")+"}")
	}
	return all
}

func TestTheModelCannotWidenTheScope(t *testing.T) {
	t.Parallel()
	attempts := append(wideners(), fuzzed(60)...)
	model := newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "ok"}
		}
		var s said
		for i, args := range attempts {
			s.calls = append(s.calls, wish{fmt.Sprintf("call_%d", i), "pska_pska_search", args})
		}
		return s
	})
	s := start(t, model, "agent: {max_tool_calls: 500}")
	all := s.stream(ask("Question", map[string]any{"tool_policy": scoped("hard")})).rest()
	calls := of(all, "tool_call")
	if len(calls) != len(attempts) {
		t.Fatalf("%d tool calls, want %d", len(calls), len(attempts))
	}
	arrived := received(t, s.oracleLog())
	if len(arrived) == 0 {
		t.Fatal("no call arrived at all")
	}
	shown := map[string]int{}
	for _, f := range calls {
		event := f.json(t)
		metadata := event["metadata"].(map[string]any)
		if metadata["tool_policy_scope_applied"] != true {
			t.Errorf("scope not applied: %s", f.data)
		}
		shown[canonical(t, event["tool_args"])]++
	}
	for _, params := range arrived {
		raw := string(params["arguments"])
		if strings.Contains(raw, "evil") {
			t.Errorf("a foreign id arrived: %s", raw)
		}
		var arguments map[string]any
		if err := json.Unmarshal(params["arguments"], &arguments); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{"kb_a"}, arguments["knowledge_base_ids"]); diff != "" {
			t.Errorf("knowledge bases of %s (-want +got):\n%s", raw, diff)
		}
		if sources, ok := arguments["source_item_ids"].([]any); !ok || len(sources) == 0 {
			t.Errorf("an empty intersection arrived: %s", raw)
		}
		if arguments["scope_mode"] != "hard" {
			t.Errorf("scope_mode of %s", raw)
		}
		if key := canonical(t, arguments); shown[key] == 0 {
			t.Errorf("the server received what no event shows: %s", raw)
		}
		if string(params["user_key"]) != `"pska:user_primary"` || string(params["tenant_key"]) != `"pska"` {
			t.Errorf("identity beside the arguments: %s %s", params["user_key"], params["tenant_key"])
		}
	}
}

// canonical is the canonical JSON of a decoded value.
func canonical(t *testing.T, value any) string { return string(mustJSON(t, value)) }

func TestEmptyIntersectionIsAnsweredLocally(t *testing.T) {
	t.Parallel()
	model := newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "ok"}
		}
		return call("pska_pska_search", `{"query":"q","source_item_ids":["src_evil"]}`)
	})
	s := start(t, model, "")
	all := s.stream(ask("Question", map[string]any{"tool_policy": scoped("hard")})).rest()
	result := of(all, "tool_result")[0].json(t)
	answer := s.object([]byte(result["content"].(string)))
	if answer["type"] != "tool_scope_empty" || result["metadata"].(map[string]any)["tool_policy_scope_empty"] != true {
		t.Errorf("result %v", result)
	}
	if calls := received(t, s.oracleLog()); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
}

func TestResultsOutsideAHardScopeAreRemoved(t *testing.T) {
	t.Parallel()
	model := newModel(t, searchThenAnswer)
	s := start(t, model, "")
	policy := map[string]any{"scope": map[string]any{"mode": "hard", "knowledge_base_ids": []any{"kb_a"}, "source_item_ids": []any{"src_other"}}}
	all := s.stream(ask("Question", map[string]any{"tool_policy": policy})).rest()
	result := of(all, "tool_result")[0].json(t)
	if content := result["content"].(string); strings.Contains(content, "src_a") || !strings.Contains(content, "tool_policy_scope_result_filter") {
		t.Errorf("result %s", content)
	}
}
