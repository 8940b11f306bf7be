package blackbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inside is a hard scope; more sources may tell the misbehaving plugin how to filter.
func inside(sources ...any) map[string]any {
	return map[string]any{"tool_policy": map[string]any{"scope": map[string]any{
		"mode": "hard", "knowledge_base_ids": []any{"kb_a"}, "source_item_ids": append([]any{"src_a"}, sources...),
	}}}
}

func TestScopePluginThatFailsDeniesTheCall(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "scope", ", limits: {wall: 1s, output_bytes: 65536}"))
	for behave, code := range map[string]string{
		"trap": "plugin_trap", "spin": "plugin_timeout", "hog": "plugin_out_of_memory", "text": "plugin_bad_answer",
		"trailing": "plugin_bad_answer", "null": "plugin_bad_answer", "zero": "plugin_no_answer",
		"flood": "plugin_output_too_large", "cut": "plugin_bad_answer",
		"tamper": "scope_plugin_tampered", "drop": "scope_plugin_tampered", "add": "scope_plugin_tampered",
	} {
		t.Run(behave, func(t *testing.T) {
			searches := len(s.arrived("pska_search"))
			results := of(s.stream(ask(behave, inside())).rest(), "tool_result")
			if len(results) != 3 {
				t.Fatalf("%d results, want 3\n%s", len(results), s.output)
			}
			if diff := cmp.Diff(denial{true, code}, denialOf(t, results[0])); diff != "" {
				t.Errorf("denied call (-want +got):\n%s\n%s", diff, results[0].data)
			}
			if calls := s.arrived("pska_search")[searches:]; len(calls) != 1 || !strings.Contains(calls[0], "afterwards") {
				t.Errorf("the server received %v, want the call afterwards only", calls)
			}
		})
	}
}

func TestScopePluginCannotWidenTheScope(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "scope", ""))
	for _, behave := range []string{"widen", "forget", "impersonate"} {
		s.stream(ask(behave, inside("src_b"))).rest()
	}
	arrived := s.arrived("pska_search")
	if len(arrived) < 3 { // every call afterwards at least
		t.Errorf("the server received %v", arrived)
	}
	for _, raw := range arrived {
		var got struct {
			KnowledgeBases []string `json:"knowledge_base_ids"`
			Sources        []string `json:"source_item_ids"`
			User           string   `json:"user_id"`
			Mode           string   `json:"scope_mode"`
		}
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"kb_a"}, got.KnowledgeBases); diff != "" || strings.Contains(raw, "evil") {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
		if len(got.Sources) == 0 || got.User != "user_primary" || got.Mode != "hard" {
			t.Errorf("arguments %s", raw)
		}
	}
}

func TestResultIsWithheldWhenTheScopePluginCannotFilterIt(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "scope", ", limits: {wall: 1s, output_bytes: 65536}"))
	for behave, code := range map[string]string{
		"trap": "plugin_trap", "spin": "plugin_timeout", "hog": "plugin_out_of_memory", "text": "plugin_bad_answer",
		"zero": "plugin_no_answer", "flood": "plugin_output_too_large",
	} {
		t.Run(behave, func(t *testing.T) {
			result := of(s.stream(ask("nothing", inside("filter-"+behave))).rest(), "tool_result")[0].json(t)
			content := s.object([]byte(result["content"].(string)))
			if content["type"] != "tool_scope_unverifiable_result" || content["error_code"] != code {
				t.Errorf("result is %v, want it withheld for %s", content, code)
			}
		})
	}
}

func TestScopePluginCannotSmuggleAResultIn(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, behaves), loading(t, "scope", ""))
	result := of(s.stream(ask("nothing", inside("filter-smuggle"))).rest(), "tool_result")[0]
	if strings.Contains(result.data, "evil") {
		t.Errorf("a foreign source arrived: %s", result.data)
	}
}
