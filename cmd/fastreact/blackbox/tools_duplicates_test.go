package blackbox

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// buildGuard builds the policy plugin of a folder of testdata, in a Go module of its own.
func buildGuard(name string) (string, error) {
	folder := filepath.Join(filepath.Dir(binary), name)
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", name))); err != nil {
		return "", err
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		return "", err
	}
	module := "module " + name + "\n\ngo 1.26.0\n\nrequire github.com/fastreact/fastreact v0.0.0\n\nreplace github.com/fastreact/fastreact => " + root + "\n"
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(module), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command(binary, "plugin", "build", folder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("plugin build: %w\n%s", err, out)
	}
	return filepath.Join(folder, "plugin.wasm"), nil
}

// TestOneIntentionIsExecutedOnceHoweverOftenItIsSent works with a policy plugin that holds a call in flight, and with
// rules for tools in both of their names.
func TestOneIntentionIsExecutedOnceHoweverOftenItIsSent(t *testing.T) {
	t.Parallel()
	plugin, err := buildGuard("patient")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]specimen.Workspace{"harbour": specimen.Harbour(), "left": busyWorkspace()}
	s := startTools(t, all, "active: harbour, mutation_interval: 30ms", fmt.Sprintf(
		"plugins: {cache_dir: %q, load: [{path: %q, allow_unpinned: true, limits: {wall: 60s}}]}\n"+
			"policy: {tool_rules: {graph_get_neighbors: deny, \"provenance.trace\": deny, evidence_get_summary: require_approval, \"evidence.read_excerpt\": require_approval}}\n",
		cacheDir(t), plugin))
	millions := 400
	t.Run("twenty duplicates of a call in flight", func(t *testing.T) {
		s.t = t
		for !s.duplicates(t, millions) { // a fast machine needs more to be held
			millions *= 2
		}
	})
	t.Run("rules deny by either name and ask a person by either name", func(t *testing.T) {
		s.t = t
		rulesHold(t, s)
	})
	t.Run("what a policy plugin says is not told", func(t *testing.T) {
		s.t = t
		pluginsStayPrivate(t, s)
	})
	t.Run("a turn ends when its workspace is left", func(t *testing.T) {
		s.t = t
		for !s.leaves(t, millions) {
			millions *= 2
		}
	})
}

// busyWorkspace holds one object, which every busy query finds.
func busyWorkspace() specimen.Workspace {
	core := fmt.Sprintf(`{"contract":"labfy.web_graph.snapshot.v3","origin":"core","revision":1,"nodes":[{"id":"entity:%s","object_kind":"entity","type":"t","label":"busy 400, busy 800, busy 1600, busy 3200, busy 6400, busy 12800","state":"s","group":"g","details":{}}],"edges":[]}`, uuid())
	return specimen.Workspace{Core: []byte(core), Jobs: specimen.Harbour().Jobs}
}

// leaves activates another workspace while the first step of a turn is in flight: the turn takes no other step, and the
// other workspace hears nothing of it. It reports whether the step was in flight.
func (s *station) leaves(t *testing.T, millions int) (held bool) {
	t.Helper()
	s.activate("left")
	_, before, _ := s.happened(0)
	ended := make(chan replied, 1)
	s.pause()
	body := string(mustJSON(t, map[string]any{"objective": fmt.Sprintf("busy %d", millions)}))
	go func() { ended <- s.send(http.MethodPost, toolsPath+"/turns", body) }()
	s.await(waitForTurns, func() (bool, string) {
		events, _, _ := s.happened(before)
		return len(events) == 4, fmt.Sprintf("the first step is not in flight: %v", events)
	})
	<-time.After(31 * time.Millisecond)
	s.activate("harbour")
	if len(ended) > 0 {
		return false
	}
	got := <-ended
	turn := s.object(got.raw)
	if got.status != http.StatusCreated || turn["state"] != "FAILED" || turn["research_plan"] != nil {
		t.Errorf("the turn: %d %s", got.status, got.raw)
	}
	if events, _, _ := s.happened(0); len(events) != 0 {
		t.Errorf("the other workspace hears %v", events)
	}
	var steps []any
	for _, record := range s.books() {
		if record["run_id"] == turn["turn_id"] && record["stage"] == "decision" {
			steps = append(steps, record)
		}
	}
	if len(steps) != 1 {
		t.Errorf("steps of the turn: %v", steps)
	}
	return true
}

// duplicates holds a call in flight, sends it twenty times more, and another one under its key. It reports whether the
// first was in flight all the time.
func (s *station) duplicates(t *testing.T, millions int) (held bool) {
	t.Helper()
	asked := envelope("investigation.search", map[string]any{"query": fmt.Sprintf("busy %d", millions)})
	body := string(mustJSON(t, asked))
	_, before, _ := s.happened(0)
	judged := len(s.books())
	var all sync.WaitGroup
	answers := make(chan replied, 21)
	send := func() {
		for { // a request may be late on its way, so that the next is too soon
			got := s.send(http.MethodPost, toolsPath+"/calls", body)
			if got.outcome() != "429 rate_limited" {
				answers <- got
				return
			}
			<-time.After(31 * time.Millisecond)
		}
	}
	s.pause()
	all.Go(send)
	s.await(waitForTurns, func() (bool, string) {
		events, _, _ := s.happened(before)
		return len(events) == 2, fmt.Sprintf("the call is not in flight: %v", events)
	})
	for range 20 {
		<-time.After(31 * time.Millisecond)
		all.Go(send)
	}
	<-time.After(31 * time.Millisecond)
	other := maps.Clone(asked)
	other["input"] = map[string]any{"query": "another"}
	got := s.send(http.MethodPost, toolsPath+"/calls", string(mustJSON(t, other)))
	for got.outcome() == "429 rate_limited" {
		<-time.After(31 * time.Millisecond)
		got = s.send(http.MethodPost, toolsPath+"/calls", string(mustJSON(t, other)))
	}
	if events, _, _ := s.happened(before); len(events) != 2 || len(answers) > 0 {
		all.Wait()
		return false
	}
	if got.outcome() != "409 agent_tool_idempotency_conflict" {
		t.Errorf("another intention: %d %s", got.status, got.raw)
	}
	all.Wait()
	s.last = time.Now()
	s.sameAnswers(t, answers)
	if events, _, _ := s.happened(before); len(events) != 3 || events[2]["payload"].(map[string]any)["state"] != "COMPLETED" {
		t.Errorf("events: %v", events)
	}
	if records := s.books()[judged:]; len(records) != 2 || records[0]["stage"] != "decision" || records[1]["stage"] != "outcome" {
		t.Errorf("the books: %v", records)
	}
	return true
}

// sameAnswers wants one first answer, and twenty that differ from it only in saying so.
func (s *station) sameAnswers(t *testing.T, answers chan replied) {
	t.Helper()
	close(answers)
	statuses, distinct := map[int]int{}, map[string]bool{}
	for got := range answers {
		statuses[got.status]++
		reply := s.object(got.raw)
		if reply["replayed"] != (got.status == http.StatusOK) {
			t.Errorf("%d is %v", got.status, reply)
		}
		delete(reply, "replayed")
		distinct[string(mustJSON(t, reply))] = true
	}
	if diff := cmp.Diff(map[int]int{201: 1, 200: 20}, statuses); diff != "" || len(distinct) != 1 {
		t.Errorf("answers (-want +got):\n%s%v", diff, distinct)
	}
}

// rulesHold asks for what the rules deny, and for what they leave to a person, who is not there.
func rulesHold(t *testing.T, s *station) {
	_, good := inputs(t)
	for tool, state := range map[string]string{
		"graph.get_neighbors": "DENIED", "provenance.trace": "DENIED",
		"evidence.get_summary": "AUTHORIZATION_REQUIRED", "evidence.read_excerpt": "AUTHORIZATION_REQUIRED", "graph.get_node": "COMPLETED",
	} {
		judged := len(s.books())
		reply, result := s.call(tool, good[tool])
		diagnostic, told := result["diagnostic"].(string)
		ran := state == "COMPLETED"
		if reply["state"] != state || result["state"] != state || told == ran || ran != (len(result["output"].(map[string]any)) > 0) {
			t.Errorf("%s: %v, want %s: %v", tool, reply["state"], state, result)
		}
		if strings.Contains(diagnostic, "tool_rules") || strings.Contains(diagnostic, tool) {
			t.Errorf("%s: diagnostic %q", tool, diagnostic)
		}
		for _, record := range s.books()[judged:] {
			if record["stage"] == "decision" && record["dispatched"] == true && !ran {
				t.Errorf("%s left: %v", tool, record)
			}
		}
	}
	_, before, _ := s.happened(0)
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": "harbour"})
	events, _, _ := s.happened(before)
	last := events[len(events)-1]
	if turn["state"] != "DENIED" || turn["research_plan"] != nil || last["kind"] != "agent.error" || last["payload"].(map[string]any)["code"] != "agent_tool_denied" {
		t.Errorf("a turn whose second reading is denied: %v, %v", turn, last)
	}
	if research := s.see("/api/v1/research"); research["state"] != "EMPTY" {
		t.Errorf("research: %v", research)
	}
}

// pluginsStayPrivate lets a policy plugin deny, ask for a person and fail: the state tells of it, and nothing else.
func pluginsStayPrivate(t *testing.T, s *station) {
	_, before, _ := s.happened(0)
	judged := len(s.books())
	for query, state := range map[string]string{"deny": "DENIED", "ask": "AUTHORIZATION_REQUIRED", "trap": "DENIED"} {
		reply, result := s.call("investigation.search", map[string]any{"query": query})
		said := string(mustJSON(t, []any{reply, result}))
		if reply["state"] != state || result["diagnostic"] == nil || strings.Contains(said, "canary") || strings.Contains(said, "patient") {
			t.Errorf("%s: want %s: %s", query, state, said)
		}
	}
	events, _, _ := s.happened(before)
	if said := string(mustJSON(t, events)); len(events) != 9 || strings.Contains(said, "canary") {
		t.Errorf("events: %s", said)
	}
	if said := string(mustJSON(t, s.books()[judged:])); !strings.Contains(said, "canary") {
		t.Errorf("the books do not hold the plugin's reason: this test could not fail: %s", said)
	}
}
