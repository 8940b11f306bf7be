package blackbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

func callsAreInShape(t *testing.T, s *station) {
	order, good := inputs(t)
	_, before, _ := s.happened(0)
	for _, tool := range order {
		asked := envelope(tool, good[tool])
		reply := s.did(http.StatusCreated, toolsPath+"/calls", asked)
		state := "COMPLETED"
		if tool == "research.prepare" {
			state = "AUTHORIZATION_REQUIRED"
		}
		call, result := reply["call_id"], reply["result_id"]
		want := map[string]any{
			"contract": "labfy.agent_tool_protocol.v1", "turn_id": asked["turn_id"], "call_id": call, "result_id": result,
			"tool_id": tool, "state": state, "replayed": false,
		}
		if diff := cmp.Diff(want, reply); diff != "" {
			t.Errorf("reply of %s (-want +got):\n%s", tool, diff)
		}
		if call == result || !uuidForm.MatchString(fmt.Sprint(call)) || !uuidForm.MatchString(fmt.Sprint(result)) {
			t.Errorf("%s: call %v and result %v are no two UUIDs", tool, call, result)
		}
		got := s.see(toolsPath + "/results/" + result.(string))
		want = map[string]any{
			"contract": "labfy.agent_tool_result.v1", "result_id": result, "turn_id": asked["turn_id"], "call_id": call,
			"tool_id": tool, "state": state, "output": got["output"], "object_refs": got["object_refs"], "artifacts": []any{},
			"observations": []any{}, "provenance_refs": got["provenance_refs"], "diagnostic": nil,
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got["output"].(map[string]any)) == 0 {
			t.Errorf("result of %s (-want +got):\n%s", tool, diff)
		}
		events, newest, _ := s.happened(before)
		checkCallEvents(t, events, asked, reply)
		before = newest
	}
}

// checkCallEvents wants exactly the three events of one call.
func checkCallEvents(t *testing.T, events []map[string]any, asked, reply map[string]any) {
	t.Helper()
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, fmt.Sprintf("%v %v %v", e["kind"], e["turn_id"] == asked["turn_id"], e["call_id"] == reply["call_id"]))
	}
	want := []string{"agent.tool.requested true true", "agent.tool.started true true", "agent.tool.completed true true"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("events of %v (-want +got):\n%s", asked["tool_id"], diff)
		return
	}
	tool := map[string]any{"tool_id": asked["tool_id"]}
	ended := map[string]any{"tool_id": asked["tool_id"], "result_id": reply["result_id"], "state": reply["state"]}
	for i, payload := range []map[string]any{tool, tool, ended} {
		if diff := cmp.Diff(any(payload), events[i]["payload"]); diff != "" {
			t.Errorf("payload of %v (-want +got):\n%s", events[i]["kind"], diff)
		}
	}
}

func readersReadTheWorkspace(t *testing.T, s *station) {
	graph := graphOf(t, specimen.Harbour())
	first := graph.Nodes[0]
	output := func(tool string, input map[string]any) map[string]any {
		t.Helper()
		_, result := s.call(tool, input)
		return result["output"].(map[string]any)
	}
	found := output("investigation.search", map[string]any{"query": "CRATE 4471"})
	var labels []string
	for _, match := range found["matches"].([]any) {
		labels = append(labels, match.(map[string]any)["label"].(string))
	}
	if !slices.Contains(labels, "Crate 4471") || len(labels) > 8 {
		t.Errorf("found %v", labels)
	}
	if none := output("investigation.search", map[string]any{"query": "no such word"}); len(none["matches"].([]any)) != 0 {
		t.Errorf("no match found %v", none)
	}
	object := map[string]any{"object_id": first.ID}
	if node := output("graph.get_node", object)["node"].(map[string]any); node["id"] != first.ID || node["label"] != first.Label {
		t.Errorf("node %v, want %v", node, first)
	}
	bare := map[string]any{"object_id": first.ID[strings.Index(first.ID, ":")+1:]}
	if node := output("graph.get_node", bare)["node"].(map[string]any); node["id"] != first.ID {
		t.Errorf("a bare UUID finds %v", node)
	}
	edges := 0
	for _, e := range graph.Edges {
		if e.Source == first.ID || e.Target == first.ID {
			edges++
		}
	}
	near := output("graph.get_neighbors", object)
	if got := near["edges"].([]any); len(got) != edges || edges == 0 {
		t.Errorf("%d edges, want %d", len(got), edges)
	}
	if diff := cmp.Diff(near, output("graph.get_neighbors", object)); diff != "" {
		t.Errorf("the neighbours have another order:\n%s", diff)
	}
	summary := output("evidence.get_summary", object)["summary"]
	if diff := cmp.Diff(any(map[string]any{"id": first.ID, "label": first.Label, "type": first.Type}), summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if excerpt, _ := output("evidence.read_excerpt", object)["excerpt"].(string); !strings.Contains(excerpt, first.Label) || len([]rune(excerpt)) > 512 {
		t.Errorf("excerpt %q", excerpt)
	}
	if job := output("jobs.get", map[string]any{"job_id": graph.Jobs[1].ID})["job"].(map[string]any); job["job_id"] != graph.Jobs[1].ID {
		t.Errorf("job %v", job)
	}
}

func failuresAreResults(t *testing.T, s *station) {
	for tool, input := range map[string]map[string]any{
		"graph.get_node":       {"object_id": "entity:" + uuid()},
		"graph.get_neighbors":  {"object_id": uuid()},
		"evidence.get_summary": {"object_id": uuid()},
		"jobs.get":             {"job_id": uuid()},
		"research.prepare":     {"selection_ids": []string{uuid()}, "question": "Who?", "exclusions": []string{}},
	} {
		reply, result := s.call(tool, input)
		diagnostic, _ := result["diagnostic"].(string)
		if reply["state"] != "FAILED" || diagnostic == "" || len(result["output"].(map[string]any)) != 0 {
			t.Errorf("%s: %v, %v", tool, reply["state"], result)
		}
		if strings.ContainsAny(diagnostic, `/\{}`) || strings.Contains(diagnostic, "SELECT") || len([]rune(diagnostic)) > 512 {
			t.Errorf("%s: diagnostic %q", tool, diagnostic)
		}
	}
}

// intentionsAreKept repeats a call in other words, and asks for other things with its key.
func intentionsAreKept(t *testing.T, s *station) {
	graph := graphOf(t, specimen.Harbour())
	object := graph.Nodes[0].ID
	asked := envelope("graph.get_node", map[string]any{"object_id": object})
	asked["context"] = map[string]any{"b": 1, "a": []any{true, nil}}
	asked["object_refs"] = []any{map[string]any{"object_id": object}}
	first := s.did(http.StatusCreated, toolsPath+"/calls", asked)
	before := s.footprint()
	first["replayed"] = true
	again := []string{
		string(mustJSON(t, asked)),
		fmt.Sprintf("{ \"idempotency_key\" : %q,\n\"object_refs\":[{\"object_id\":%q}], \"context\":{\"a\":[true,null],\"b\":1}, \"input\":{\"object_id\":%q}, \"tool_id\":\"graph.get_node\", \"turn_id\":%q }",
			asked["idempotency_key"], object, object, asked["turn_id"]),
	}
	for _, body := range again {
		got := s.post(toolsPath+"/calls", body)
		if diff := cmp.Diff(first, s.object(got.raw)); got.status != http.StatusOK || diff != "" {
			t.Errorf("a replay: %d (-want +got):\n%s", got.status, diff)
		}
	}
	for key, value := range map[string]any{
		"turn_id": uuid(), "tool_id": "graph.get_neighbors", "input": map[string]any{"object_id": graph.Nodes[1].ID},
		"object_refs": []any{}, "context": nil,
	} {
		other := map[string]any{}
		for name, kept := range asked {
			other[name] = kept
		}
		other[key] = value
		got := s.post(toolsPath+"/calls", other)
		if got.outcome() != "409 agent_tool_idempotency_conflict" {
			t.Errorf("another %s with the key: %d %s", key, got.status, got.raw)
		}
	}
	if after := s.footprint(); after != before {
		t.Errorf("replays and conflicts left %s, before %s", after, before)
	}
}
