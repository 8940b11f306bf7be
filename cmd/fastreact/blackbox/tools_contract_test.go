package blackbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// TestAgentToolsSpeakTheirContract walks through the catalogue, calls of all nine tools, what is refused and what is
// answered again, in one service.
func TestAgentToolsSpeakTheirContract(t *testing.T) {
	t.Parallel()
	s := startTools(t, map[string]specimen.Workspace{"harbour": specimen.Harbour()}, "active: harbour", "")
	sub := func(name string, fact func(*testing.T, *station)) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			fact(t, s)
		})
	}
	sub("the catalogue is the contract's table", catalogueIsTheTable)
	sub("every schema takes what it should and nothing else", schemasAreClosed)
	sub("research is empty before a person or an agent prepares it", researchBeginsEmpty)
	sub("a call and its result have exactly the contract's keys", callsAreInShape)
	sub("readers answer what the workspace holds", readersReadTheWorkspace)
	sub("what a tool cannot do is a result that failed", failuresAreResults)
	sub("what is not valid executes nothing", invalidCallsExecuteNothing)
	sub("the same intention is answered again and another is a conflict", intentionsAreKept)
	sub("the other faces stay as they are", otherFacesStayAsTheyAre)
	sub("a workspace whose files cannot be read has no tools that need them", availabilityIsReal)
}

// inputs are inputs that fit, by tool, in the catalogue's order.
func inputs(t *testing.T) (order []string, by map[string]map[string]any) {
	t.Helper()
	graph := graphOf(t, specimen.Harbour())
	object := map[string]any{"object_id": graph.Nodes[0].ID}
	order = []string{
		"investigation.search", "graph.get_node", "graph.get_neighbors", "evidence.get_summary", "evidence.read_excerpt",
		"provenance.trace", "jobs.get", "research.get_state", "research.prepare",
	}
	return order, map[string]map[string]any{
		order[0]: {"query": "harbour"}, order[1]: object, order[2]: object, order[3]: object, order[4]: object, order[5]: object,
		order[6]: {"job_id": graph.Jobs[0].ID}, order[7]: {},
		order[8]: {"selection_ids": []string{graph.Nodes[0].ID}, "question": "Who weighed it?", "exclusions": []string{}},
	}
}

func (s *station) catalogue() []map[string]any {
	s.t.Helper()
	page := s.see(toolsPath + "/catalog")
	var tools []map[string]any
	for _, one := range page["tools"].([]any) {
		tools = append(tools, one.(map[string]any))
	}
	delete(page, "tools")
	want := map[string]any{"contract": "labfy.agent_tool_protocol.v1", "version": 1.0, "transport": "HTTP_POLLING"}
	if diff := cmp.Diff(want, page); diff != "" {
		s.t.Errorf("the catalogue beside its tools (-want +got):\n%s", diff)
	}
	return tools
}

func catalogueIsTheTable(t *testing.T, s *station) {
	order, _ := inputs(t)
	tools := s.catalogue()
	if len(tools) != len(order) {
		t.Fatalf("%d tools, want %d", len(tools), len(order))
	}
	titles := map[any]bool{}
	for i, id := range order {
		got := tools[i]
		title, _ := got["title"].(string)
		description, _ := got["description"].(string)
		if title == "" || description == "" || titles[title] {
			t.Errorf("%s: title %q, description %q", id, title, description)
		}
		titles[title] = true
		want := map[string]any{
			"tool_id": id, "tool_version": "1", "capability_id": "labfy.capability." + id + ".v1", "capability_version": "1",
			"title": title, "description": description, "input_schema": got["input_schema"],
			"output_contract": "labfy.agent_tool_result.v1", "action_class": "READ_ONLY", "network_contact": "NONE",
			"authorization_requirement": "NONE", "risk_class": "LOW", "cost_class": "BOUNDED",
			"availability": "AVAILABLE", "unavailable_reason": nil,
		}
		if id == "research.prepare" {
			want["action_class"], want["authorization_requirement"] = "PREPARE_AUTHORIZATION", "HUMAN_GRANT"
			want["risk_class"] = "MODERATE"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func schemasAreClosed(t *testing.T, s *station) {
	_, good := inputs(t)
	for _, tool := range s.catalogue() {
		id := tool["tool_id"].(string)
		schema := tool["input_schema"].(map[string]any)
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("urn:"+id, schema); err != nil {
			t.Fatal(err)
		}
		compiled, err := compiler.Compile("urn:" + id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		takes := func(input map[string]any) bool {
			var plain any
			_ = json.Unmarshal(mustJSON(t, input), &plain)
			return compiled.Validate(plain) == nil
		}
		if !takes(good[id]) || schema["type"] != "object" || schema["additionalProperties"] != false {
			t.Errorf("%s does not take %v: %s", id, good[id], mustJSON(t, schema))
		}
		if required, _ := schema["required"].([]any); len(required) != len(good[id]) {
			t.Errorf("%s requires %v", id, required)
		}
		for name, input := range badInputs(t)[id] {
			if takes(input) && name != "NUL" && name != "blank beyond ASCII" { // these no schema can say
				t.Errorf("the schema of %s takes %s: %.100v", id, name, input)
			}
		}
	}
}

// badInputs are inputs with one thing wrong, by tool and by what that is.
func badInputs(t *testing.T) map[string]map[string]map[string]any {
	t.Helper()
	order, good := inputs(t)
	all := map[string]map[string]map[string]any{}
	for _, id := range order {
		bad := map[string]map[string]any{"one key more": {"more": 1}}
		for name, value := range good[id] {
			bad["one key more"][name] = value
			less := map[string]any{"x": 1}
			for other, kept := range good[id] {
				if other != name {
					less[other] = kept
				}
			}
			bad[name+" under another name"] = less
			for wrong, with := range badValues(name, value) {
				changed := map[string]any{}
				for other, kept := range good[id] {
					changed[other] = kept
				}
				changed[name] = with
				if wrong != "NUL" {
					wrong = name + " " + wrong
				}
				bad[wrong] = changed
			}
		}
		all[id] = bad
	}
	return all
}

// badValues are values that a member must not have.
func badValues(name string, good any) map[string]any {
	bad := map[string]any{"is null": nil, "is a number": 7, "is an object": map[string]any{"a": "b"}, "is true": true}
	switch name {
	case "query", "question":
		bad["is a list"], bad["is empty"], bad["is blank"] = []string{"a"}, "", " \t\n"
		bad["is one character too long"], bad["is one wide character too long"] = strings.Repeat("a", 513), strings.Repeat("界", 513)
		bad["NUL"] = "a\x00b"
	case "object_id", "job_id":
		id := good.(string)
		bad["is a list"], bad["is empty"], bad["is a word"] = []string{id}, "", "crate"
		bad["is cut"], bad["is long"], bad["has a line break"] = id[:len(id)-1], id+"0", id+"\n"
		bad["is a path"], bad["has two kinds"], bad["has braces"] = "../"+id, "a:"+id+":b", "{"+id+"}"
	case "selection_ids":
		id := good.([]string)[0]
		bad["is a text"], bad["is empty"], bad["has a word"], bad["has null"] = id, []string{}, []string{"crate"}, []any{nil}
		bad["is one too long"] = []string{uuid(), uuid(), uuid(), uuid(), uuid(), uuid(), uuid(), uuid(), uuid()}
		bad["has one twice"] = []string{id, id}
	case "exclusions":
		bad["is a text"], bad["has a number"], bad["has a blank"] = "a", []any{1}, []string{" "}
		bad["is one too long"] = strings.Fields("a b c d e f g h i")
		bad["has one that is too long"] = []string{strings.Repeat("é", 513)}
	}
	return bad
}

func researchBeginsEmpty(t *testing.T, s *station) {
	want := map[string]any{
		"contract": "labfy.research.snapshot.v1", "state": "EMPTY", "plan_id": nil, "plan_fingerprint": nil,
		"input_revision": nil, "created_at": nil, "question": nil, "actions": []any{}, "grants": []any{},
	}
	got := s.see("/api/v1/research")
	delete(got, "campaigns") // beside the contract
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("research (-want +got):\n%s", diff)
	}
	if _, result := s.call("research.get_state", map[string]any{}); result["output"].(map[string]any)["state"] != "EMPTY" {
		t.Errorf("the agent reads %v", result["output"])
	}
}

// availabilityIsReal takes a file away, and puts others in its place that no reader reads.
func availabilityIsReal(t *testing.T, s *station) {
	nodes := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"id":"entity:%s"},`, uuid()), 501), ",")
	for what, content := range map[string]string{
		"nothing": "", "half a document": `{"contract":`, "a list": "[]", "another contract": `{"contract":"labfy.other.v9","nodes":[],"edges":[],"jobs":[]}`,
		"too many nodes": `{"nodes":[` + nodes + `],"edges":[]}`, "more than a MiB": `{"nodes":[],"edges":[],"more":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		for _, name := range []string{specimen.CoreName, specimen.JobsName} {
			if what == "too many nodes" && name == specimen.JobsName {
				continue
			}
			file := filepath.Join(s.folder, "site-harbour", name)
			if err := os.Rename(file, file+".away"); err != nil {
				t.Fatal(err)
			}
			if content != "" {
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.cannotRead(t, what, name)
			if err := os.Rename(file+".away", file); err != nil {
				t.Fatal(err)
			}
		}
	}
	catalogueIsTheTable(t, s)
}

// cannotRead wants the tools that need a file unavailable, in the catalogue and in calls, for one reason, and the others
// available.
func (s *station) cannotRead(t *testing.T, what, name string) {
	t.Helper()
	_, good := inputs(t)
	needs := map[string]string{"jobs.get": specimen.JobsName, "research.get_state": ""}
	called := map[string]bool{"graph.get_node": true, "research.prepare": true, "jobs.get": true}
	for _, tool := range s.catalogue() {
		id := tool["tool_id"].(string)
		needed, listed := needs[id]
		away := needed == name || !listed && name == specimen.CoreName
		want := map[bool]any{true: "UNAVAILABLE", false: "AVAILABLE"}[away]
		reason, told := tool["unavailable_reason"].(string)
		if tool["availability"] != want || told != away || away && reason == "" {
			t.Errorf("%s as %s: %s is %v because of %q", what, name, id, tool["availability"], reason)
		}
		if strings.Contains(reason, s.folder) || strings.Contains(reason, name) {
			t.Errorf("the reason of %s tells a path: %q", id, reason)
		}
		if !away || !called[id] {
			continue
		}
		reply, result := s.call(id, good[id])
		if reply["state"] != "UNAVAILABLE" || result["diagnostic"] != reason || len(result["output"].(map[string]any)) != 0 {
			t.Errorf("%s as %s: a call of %s is %v, %v, want %q", what, name, id, reply["state"], result, reason)
		}
	}
}
