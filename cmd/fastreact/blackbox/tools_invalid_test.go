package blackbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// invalidCallsExecuteNothing sends everything that is refused before a call begins.
func invalidCallsExecuteNothing(t *testing.T, s *station) {
	before := s.footprint()
	cases := 0
	refused := func(want, method, path, what string, body any) {
		t.Helper()
		cases++
		var got replied
		if method == http.MethodGet {
			got = s.send(method, path, "")
		} else {
			got = s.post(path, body)
		}
		if got.outcome() != want {
			t.Errorf("%s %s with %s: %s, want %s", method, path, what, got.outcome(), want)
		}
		if message := fmt.Sprint(s.object(got.raw)["message"]); strings.Contains(message, "canary") || strings.Contains(message, s.folder) {
			t.Errorf("%s %s with %s: message %q", method, path, what, message)
		}
	}
	const invalid, noJSON, noRoute = "400 agent_tool_invalid", "400 invalid_request", "404 route_unknown"
	for what, body := range badEnvelopes(t) {
		refused(invalid, "POST", toolsPath+"/calls", what, body)
	}
	for tool, bad := range badInputs(t) {
		for what, input := range bad {
			refused(invalid, "POST", toolsPath+"/calls", tool+": "+what, envelope(tool, input))
		}
	}
	for what, body := range map[string]any{
		"no objective": map[string]any{}, "null": map[string]any{"objective": nil}, "a number": map[string]any{"objective": 1},
		"an empty one": map[string]any{"objective": ""}, "a blank one": map[string]any{"objective": " \t\n\u00a0\u2003"},
		"513 characters": map[string]any{"objective": strings.Repeat("x", 513)}, "513 wide ones": map[string]any{"objective": strings.Repeat("界", 513)},
		"NUL": `{"objective":"a\u0000b"}`, "another key": map[string]any{"objective": "x", "more": 1}, "other letters": map[string]any{"Objective": "x"},
	} {
		refused(invalid, "POST", toolsPath+"/turns", what, body)
	}
	for what, body := range map[string]string{
		"nothing": "", "no JSON": "objective", "a list": "[]", "a text": `"x"`, "null": "null", "two objects": "{}{}", "a raw NUL": "{\"objective\":\"a\x00b\"}",
		"broken UTF-8": "{\"objective\":\"\xff\"}", "half a pair": `{"objective":"\ud800"}`, "a key twice": `{"objective":"a","objective":"b"}`, "half": `{"objective":"a"`,
	} {
		for _, path := range []string{"/turns", "/calls"} {
			refused(noJSON, "POST", toolsPath+path, what, body)
		}
	}
	for _, query := range []string{
		"cursor=-1", "cursor=+1", "cursor=%201", "cursor=1.0", "cursor=x", "cursor=", "cursor", "cursor=9223372036854775808", "cursor=1&cursor=2",
		"cursor=1&more=2", "Cursor=1", "more=1", "cursor=%zz", "cursor=1;more=2", "cursor=1e3", "cursor=0x1",
	} {
		refused(invalid, "GET", toolsPath+"/events?"+query, "it", nil)
	}
	refused(invalid, "GET", toolsPath+"/catalog?x=1", "a parameter", nil)
	refused(invalid, "GET", toolsPath+"/results/"+uuid()+"?x=1", "a parameter", nil)
	refused(invalid, "POST", toolsPath+"/turns?x=1", "a parameter", map[string]any{"objective": "harbour"})
	refused(invalid, "POST", toolsPath+"/calls?cursor=1", "a parameter", envelope("research.get_state", map[string]any{}))
	refused(invalid, "POST", toolsPath+"/turns/"+uuid()+"/resume", "a body with keys", map[string]any{"force": true})
	for id, want := range map[string]string{
		"x": invalid, uuid()[1:]: invalid, uuid() + "0": invalid, "..%2f..": noRoute, "%00": noRoute, "{" + uuid() + "}": noRoute,
	} {
		refused(want, "GET", toolsPath+"/results/"+id, "it", nil)
		refused(want, "POST", toolsPath+"/turns/"+id+"/resume", "it", "{}")
	}
	refused("404 agent_tool_result_unknown", "GET", toolsPath+"/results/"+uuid(), "an unknown id", nil)
	refused("404 agent_turn_unknown", "POST", toolsPath+"/turns/"+uuid()+"/resume", "an unknown id", "{}")
	if after := s.footprint(); after != before {
		t.Errorf("%d refusals left %s, before %s", cases, after, before)
	}
	_, good := inputs(t)
	if s.call("graph.get_node", good["graph.get_node"]); s.footprint() == before {
		t.Error("an executed call leaves no footprint: this test could not fail")
	}
}

// badEnvelopes are calls with one thing wrong around a good input.
func badEnvelopes(t *testing.T) map[string]any {
	t.Helper()
	_, good := inputs(t)
	changed := func(key string, value any) map[string]any {
		body := envelope("graph.get_node", good["graph.get_node"])
		body[key] = value
		return body
	}
	without := func(key string) map[string]any {
		body := changed(key, nil)
		delete(body, key)
		return body
	}
	all := map[string]any{"no keys": map[string]any{}, "one key more": changed("more", 1), "a call_id": changed("call_id", uuid())}
	for key := range changed("more", 1) {
		if key == "more" {
			continue
		}
		all["no "+key] = without(key)
		all[key+" 7"] = changed(key, 7)
		all[key+" true"] = changed(key, true)
		if key != "context" {
			all[key+" null"] = changed(key, nil)
		}
		other := without(key)
		other[strings.ToUpper(key)] = changed(key, good["graph.get_node"])[key]
		all[key+" in capitals"] = other
	}
	refs := make([]any, 65)
	for i := range refs {
		refs[i] = map[string]any{"object_id": "1"}
	}
	for name, value := range map[string]any{
		"blank": "", "a word": "turn", "cut": uuid()[1:], "long": uuid() + "0", "braces": "{" + uuid() + "}", "no hyphens": strings.ReplaceAll(uuid(), "-", ""), "a line break": uuid() + "\n",
	} {
		all["turn_id "+name] = changed("turn_id", value)
	}
	for name, value := range map[string]string{"blank": " ", "long": strings.Repeat("k", 129), "with a line break": "k\n", "with a NUL": "k\x00"} {
		all["key "+name] = changed("idempotency_key", value)
	}
	for _, tool := range []string{"", "graph_get_node", "graph.get_node ", "Graph.get_node", "exec", "research.grant", "research_contact", "research.contact", "graph.get_node\n"} {
		all[fmt.Sprintf("tool %q", tool)] = changed("tool_id", tool)
	}
	for name, value := range map[string]any{
		"a text": "x", "a list": []any{}, "texts": []string{uuid()}, "null in it": []any{nil}, "another key in it": []any{map[string]any{"id": uuid()}},
		"two keys in it": []any{map[string]any{"object_id": uuid(), "label": "x"}}, "a word in it": []any{map[string]any{"object_id": "crate"}}, "65 of them": refs,
	} {
		if name != "a list" {
			all["object_refs "+name] = changed("object_refs", value)
		}
		if _, list := value.([]any); list || name == "a text" {
			all["context "+name], all["input "+name] = changed("context", value), changed("input", value)
		}
	}
	raw := string(mustJSON(t, changed("context", "HERE")))
	all["NUL in the context"] = strings.Replace(raw, `"HERE"`, `{"a":"\u0000"}`, 1)
	return all
}
