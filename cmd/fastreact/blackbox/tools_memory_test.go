package blackbox

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// TestWhatAnInstanceKeepsIsBoundedAndEndsWithIt fills the rings, changes the workspace and kills the service.
func TestWhatAnInstanceKeepsIsBoundedAndEndsWithIt(t *testing.T) {
	t.Parallel()
	s := startTools(t, map[string]specimen.Workspace{"harbour": specimen.Harbour(), "observatory": specimen.Observatory()},
		"grant_ttl: 1s", "")
	sub := func(name string, fact func(*testing.T, *station)) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			fact(t, s)
		})
	}
	sub("without an active workspace nothing is called", nothingWithoutAWorkspace)
	sub("the 129th event and the 65th result let the first go", ringsLetTheFirstGo)
	sub("the 33rd turn lets the first go", turnsLetTheFirstGo)
	sub("another workspace sees nothing of it", workspacesAreApart)
	sub("a result of 256 KiB is kept and one of a byte more is not", resultsAreBounded)
	sub("a grant ends by itself", grantsExpire)
	sub("a killed instance leaves research and nothing else", instancesEnd)
}

func (s *station) activate(id string) {
	s.t.Helper()
	session := s.did(200, "/api/v1/workspaces/"+id+"/activate", "{}")
	if session["active_workspace_id"] != id || session["workspace_state"] != "READY" {
		s.t.Errorf("after the switch to %s: %v", id, session)
	}
}

func nothingWithoutAWorkspace(t *testing.T, s *station) {
	session := s.see("/api/v1/session")
	if session["active_workspace_id"] != nil || session["workspace_state"] != "EMPTY" || session["contract"] != "labfy.workspace.session.v1" {
		t.Errorf("session: %v", session)
	}
	for path, body := range map[string]any{
		toolsPath + "/calls": envelope("research.get_state", map[string]any{}), toolsPath + "/turns": map[string]any{"objective": "harbour"},
		"/api/v1/agent-runtime/turns": map[string]any{"objective": "harbour"},
	} {
		if got := s.post(path, body); got.outcome() != "409 workspace_none" {
			t.Errorf("%s: %d %s", path, got.status, got.raw)
		}
	}
	if got := s.send("GET", "/api/v1/research", ""); got.outcome() != "409 workspace_none" {
		t.Errorf("research: %d %s", got.status, got.raw)
	}
	prepare := map[string]any{"selection_ids": []string{uuid()}, "question": "Why?", "exclusions": []any{}, "idempotency_key": uuid()}
	if got := s.post(preparePath, prepare); got.outcome() != "409 workspace_none" {
		t.Errorf("a plan: %d %s", got.status, got.raw)
	}
	for _, tool := range s.catalogue() {
		if tool["availability"] != "UNAVAILABLE" || tool["unavailable_reason"] == "" {
			t.Errorf("%v is %v", tool["tool_id"], tool["availability"])
		}
	}
	if got := s.post("/api/v1/workspaces/nowhere/activate", "{}"); got.outcome() != "404 workspace_unknown" {
		t.Errorf("an unknown workspace: %d %s", got.status, got.raw)
	}
	s.activate("harbour")
}

func ringsLetTheFirstGo(t *testing.T, s *station) {
	_, start, _ := s.happened(0)
	var results []string
	var first map[string]any
	for n := 1; n <= 65; n++ {
		asked := envelope("research.get_state", map[string]any{})
		if n == 1 {
			first = asked
		}
		reply := s.did(http.StatusCreated, toolsPath+"/calls", asked)
		results = append(results, reply["result_id"].(string))
		switch events, _, gap := s.happened(0); n {
		case 42:
			if len(events) != 126 || gap {
				t.Errorf("126 events: %d, gap %v", len(events), gap)
			}
		case 43:
			if len(events) != 128 || !gap || events[0]["sequence"] != float64(start+2) {
				t.Errorf("129 events: %d from %v, gap %v", len(events), events[0]["sequence"], gap)
			}
			if _, _, gap := s.happened(start + 1); gap {
				t.Error("whoever has read the first event is told of a gap")
			}
		case 64:
			if got := s.send("GET", toolsPath+"/results/"+results[0], ""); got.status != 200 {
				t.Errorf("the first of 64 results: %d %s", got.status, got.raw)
			}
		}
	}
	for i, want := range map[int]string{0: "404 agent_tool_result_unknown", 1: "200 ", 64: "200 "} {
		if got := s.send("GET", toolsPath+"/results/"+results[i], ""); got.outcome() != want {
			t.Errorf("result %d of 65: %s, want %s", i+1, got.outcome(), want)
		}
	}
	if got := s.post(toolsPath+"/calls", first); got.status != http.StatusCreated {
		t.Errorf("the call that was forgotten: %d %s", got.status, got.raw)
	}
}

func turnsLetTheFirstGo(t *testing.T, s *station) {
	var turns []string
	for range 33 {
		turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": "nothing is called so"})
		turns = append(turns, turn["turn_id"].(string))
	}
	for i, want := range map[int]string{0: "404 agent_turn_unknown", 1: "409 agent_turn_not_waiting"} {
		if got := s.post(toolsPath+"/turns/"+turns[i]+"/resume", "{}"); got.outcome() != want {
			t.Errorf("turn %d of 33: %s, want %s", i+1, got.outcome(), want)
		}
	}
}

func workspacesAreApart(t *testing.T, s *station) {
	asked := envelope("investigation.search", map[string]any{"query": "harbour"})
	reply := s.did(http.StatusCreated, toolsPath+"/calls", asked)
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": "harbour"})
	running := s.did(202, "/api/v1/agent-runtime/turns", map[string]any{"objective": "harbour"})["turn_id"].(string)
	s.awaitTurn(running, "AUTHORIZATION_REQUIRED")
	plan := s.see("/api/v1/research")
	unseen := map[string]string{
		"GET " + toolsPath + "/results/" + reply["result_id"].(string):         "404 agent_tool_result_unknown",
		"POST " + toolsPath + "/turns/" + turn["turn_id"].(string) + "/resume": "404 agent_turn_unknown",
		"GET /api/v1/agent-runtime/turns/" + running:                           "404 agent_runtime_unknown",
		"POST /api/v1/agent-runtime/turns/" + running + "/resume":              "404 agent_runtime_unknown",
		"POST /api/v1/agent-runtime/turns/" + running + "/cancel":              "404 agent_runtime_unknown",
	}
	for _, other := range []string{"observatory", "harbour"} {
		s.activate(other)
		for route, want := range unseen {
			method, path, _ := strings.Cut(route, " ")
			got := s.send(method, path, "")
			if s.last = time.Now(); method == http.MethodPost {
				s.pause()
				got = s.post(path, "{}")
			}
			if got.outcome() != want {
				t.Errorf("in %s: %s: %s, want %s", other, route, got.outcome(), want)
			}
		}
		if events, _, _ := s.happened(0); len(events) != 0 {
			t.Errorf("in %s: events %v", other, events)
		}
		if events := s.see("/api/v1/agent-runtime/events?cursor=0")["events"].([]any); len(events) != 0 {
			t.Errorf("in %s: events of the runtime %v", other, events)
		}
		research := s.see("/api/v1/research")
		if own := other == "harbour"; own != (research["plan_id"] == plan["plan_id"]) || !own && research["state"] != "EMPTY" {
			t.Errorf("in %s: research %v", other, research)
		}
		if other == "observatory" {
			s.keysAreOfAWorkspace(t, asked, plan)
		}
	}
}

// keysAreOfAWorkspace uses a key, a plan and an object of the other workspace.
func (s *station) keysAreOfAWorkspace(t *testing.T, asked, plan map[string]any) {
	t.Helper()
	fresh := s.did(http.StatusCreated, toolsPath+"/calls", asked)
	found := s.see(toolsPath + "/results/" + fresh["result_id"].(string))["output"].(map[string]any)
	if fresh["replayed"] != false || len(found["matches"].([]any)) != 0 {
		t.Errorf("a key of the other workspace: %v, %v", fresh, found)
	}
	if got := s.post(grantsPath, decision(plan, 1)); got.outcome() != "409 research_refused" {
		t.Errorf("a plan of the other workspace: %d %s", got.status, got.raw)
	}
	object := graphOf(t, specimen.Harbour()).Nodes[0].ID
	if reply, _ := s.call("graph.get_node", map[string]any{"object_id": object}); reply["state"] != "FAILED" {
		t.Errorf("an object of the other workspace: %v", reply)
	}
}

// resultsAreBounded measures a small result and then makes one of exactly the bound.
func resultsAreBounded(t *testing.T, s *station) {
	id := "entity:" + uuid()
	read := func(note int) (replied, map[string]any) {
		core := fmt.Sprintf(`{"contract":"labfy.web_graph.snapshot.v3","origin":"core","revision":7,"nodes":[{"id":%q,"object_kind":"entity","type":"person","label":"Large","state":"OPEN","group":"g","details":{"note":"%s"}}],"edges":[]}`,
			id, strings.Repeat("x", note))
		if err := specimen.Write(filepath.Join(s.folder, "site-harbour"), specimen.Workspace{Core: []byte(core), Jobs: specimen.Harbour().Jobs}); err != nil {
			t.Fatal(err)
		}
		asked := envelope("graph.get_node", map[string]any{"object_id": id})
		return s.post(toolsPath+"/calls", asked), asked
	}
	size := func(got replied) int {
		t.Helper()
		if got.status != http.StatusCreated {
			t.Fatalf("%d %s", got.status, got.raw)
		}
		return len(s.send("GET", toolsPath+"/results/"+s.object(got.raw)["result_id"].(string), "").raw)
	}
	small, _ := read(1)
	around := size(small) - 1
	largest, _ := read(262144 - around)
	if got := size(largest); got != 262144 {
		t.Errorf("the largest result has %d bytes", got)
	}
	_, before, _ := s.happened(0)
	larger, asked := read(262145 - around)
	again := s.post(toolsPath+"/calls", asked)
	for what, got := range map[string]replied{"a byte more": larger, "a byte more again": again} {
		if got.outcome() != "413 agent_tool_result_too_large" {
			t.Errorf("%s: %d %s", what, got.status, got.raw)
		}
	}
	events, _, _ := s.happened(before)
	if len(events) != 3 {
		t.Fatalf("events: %v", events)
	}
	payload := events[2]["payload"].(map[string]any)
	kept := s.see(toolsPath + "/results/" + payload["result_id"].(string))
	if payload["state"] != "FAILED" || kept["state"] != "FAILED" || kept["diagnostic"] == nil || len(kept["output"].(map[string]any)) != 0 {
		t.Errorf("what is kept of it: %v, %v", payload, kept)
	}
	if err := specimen.Write(filepath.Join(s.folder, "site-harbour"), specimen.Harbour()); err != nil {
		t.Fatal(err)
	}
}

// grantsExpire waits for the end that a grant tells of itself.
func grantsExpire(t *testing.T, s *station) {
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": "harbour"})
	granted := s.did(200, grantsPath, decision(turn["research_plan"].(map[string]any), 2))
	s.did(200, campaignsPath, launch(granted, 1))
	ends, err := time.Parse(time.RFC3339, granted["grants"].([]any)[0].(map[string]any)["expires_at"].(string))
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Until(ends.Add(time.Second))) // the time is told in whole seconds
	if got := s.post(campaignsPath, launch(granted, 2)); got.outcome() != "409 research_refused" {
		t.Errorf("a campaign under a grant that ended: %d %s", got.status, got.raw)
	}
	if got := s.post(toolsPath+"/turns/"+turn["turn_id"].(string)+"/resume", "{}"); got.outcome() != "409 agent_turn_not_granted" {
		t.Errorf("a resumption under a grant that ended: %d %s", got.status, got.raw)
	}
}

func instancesEnd(t *testing.T, s *station) {
	reply, _ := s.call("research.get_state", map[string]any{})
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": "harbour"})["turn_id"].(string)
	research, cookie, instance := s.see("/api/v1/research"), s.cookie, s.see("/api/v1/session")["instance_id"]
	s.kill()
	awaitGone(t, s.command.Process.Pid)
	s.run()
	_, s.authority = s.launch()
	if got := s.send("GET", "/api/v1/session", ""); got.outcome() != "401 session_required" {
		t.Errorf("the old cookie: %d %s", got.status, got.raw)
	}
	if got := s.post("/api/v1/workspaces/harbour/activate", "{}"); got.outcome() != "403 mutation_rejected" {
		t.Errorf("the old token: %d %s", got.status, got.raw)
	}
	s.enter()
	session := s.see("/api/v1/session")
	if name, _, _ := strings.Cut(s.cookie, "="); session["instance_id"] == instance || name != "labfy_session_"+session["instance_id"].(string)[:12] || s.cookie == cookie {
		t.Errorf("the new session: %v, cookie %s", session, name)
	}
	s.activate("harbour")
	if diff := cmp.Diff(research, s.see("/api/v1/research")); diff != "" {
		t.Errorf("research (-before +after):\n%s", diff)
	}
	if events, newest, gap := s.happened(0); len(events) != 0 || newest != 0 || gap {
		t.Errorf("events %v to %d, gap %v", events, newest, gap)
	}
	if got := s.send("GET", toolsPath+"/results/"+reply["result_id"].(string), ""); got.outcome() != "404 agent_tool_result_unknown" {
		t.Errorf("a result: %d %s", got.status, got.raw)
	}
	if got := s.post(toolsPath+"/turns/"+turn+"/resume", "{}"); got.outcome() != "404 agent_turn_unknown" {
		t.Errorf("a turn: %d %s", got.status, got.raw)
	}
}
