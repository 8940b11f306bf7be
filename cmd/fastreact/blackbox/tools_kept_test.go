package blackbox

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

// hostileTurnIsATurn lets the agent work on hostile data for hostile objectives: it does what it always does.
func hostileTurnIsATurn(t *testing.T, s *station) {
	s.did(200, "/api/v1/workspaces/hostile/activate", "{}")
	defer s.did(200, "/api/v1/workspaces/harbour/activate", "{}")
	planned := 0
	for i, text := range specimen.HostileTexts() {
		if i%2 == 1 && i != 5 { // half of them: a turn is five calls
			continue
		}
		objective := strings.ReplaceAll(text, "\x00", "")
		objective = string([]rune(objective)[:min(512, len([]rune(objective)))])
		_, before, _ := s.happened(0)
		turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": objective})
		events, _, _ := s.happened(before)
		checkSequence(t, turn["turn_id"], before, events)
		if len(events) < 6 {
			t.Fatalf("%.60q: events %v", objective, events)
		}
		if turn["state"] == "FAILED" && events[len(events)-1]["payload"].(map[string]any)["code"] == "agent_no_match" {
			continue // the text stands in the file in another form
		}
		if turn["state"] != "AUTHORIZATION_REQUIRED" || len(events) != 18 {
			t.Fatalf("%.60q: %v, %d events, last %v", objective, turn["state"], len(events), retold(events[len(events)-1]))
		}
		planned++
		checkSteps(t, events[2:17], demoSteps())
		plan := turn["research_plan"].(map[string]any)
		checkUndecided(t, plan)
		if plan["question"] != objective {
			t.Errorf("the question is %q, want %q", plan["question"], objective)
		}
	}
	if planned < 6 {
		t.Errorf("only %d hostile objectives led to a plan", planned)
	}
	for _, node := range graphOf(t, specimen.Hostile()).Nodes {
		if reply, result := s.call("evidence.read_excerpt", map[string]any{"object_id": node.ID}); reply["state"] != "COMPLETED" {
			t.Errorf("the excerpt of %.40q: %v", node.Label, result["diagnostic"])
		}
	}
	if tools := s.catalogue(); len(tools) != 9 || tools[8]["authorization_requirement"] != "HUMAN_GRANT" {
		t.Errorf("the catalogue: %v", tools)
	}
	if research := s.see("/api/v1/research"); len(research["grants"].([]any)) != 0 {
		t.Errorf("grants: %v", research["grants"])
	}
}

// nothingIsKept works with texts that are known, ends the service and looks for them.
func nothingIsKept(t *testing.T, s *station) {
	const label, details, context, objective = "canary-of-a-label", "canary-of-details", "canary-of-a-context", "canary-of-an-objective"
	core := fmt.Sprintf(`{"contract":"labfy.web_graph.snapshot.v3","origin":"core","revision":1,"nodes":[{"id":"entity:%s","object_kind":"entity","type":"person","label":%q,"state":"OPEN","group":"g","details":{"note":"%s %s"}}],"edges":[]}`,
		uuid(), label, details, objective)
	if err := specimen.Write(filepath.Join(s.folder, "site-harbour"), specimen.Workspace{Core: []byte(core), Jobs: specimen.Harbour().Jobs}); err != nil {
		t.Fatal(err)
	}
	asked := envelope("investigation.search", map[string]any{"query": details})
	asked["context"] = map[string]any{"why": context}
	first := s.did(http.StatusCreated, toolsPath+"/calls", asked)
	failed := envelope("jobs.get", map[string]any{"job_id": uuid()})
	failed["context"] = map[string]any{"why": context}
	s.did(http.StatusCreated, toolsPath+"/calls", failed)
	turn := s.did(http.StatusCreated, toolsPath+"/turns", map[string]any{"objective": objective})
	if turn["state"] != "AUTHORIZATION_REQUIRED" {
		t.Fatalf("turn: %v", turn)
	}
	for _, id := range []any{turn["turn_id"], asked["turn_id"], first["call_id"], first["result_id"]} {
		if status, _ := s.request("GET", "/v1/runs/"+fmt.Sprint(id), nil); status != http.StatusNotFound {
			t.Errorf("there is a run %v: %d", id, status)
		}
	}
	if runs := s.runIDs(); len(runs) != 0 {
		t.Errorf("runs: %v", runs)
	}
	var noted []string
	for _, record := range s.books() {
		if record["run_id"] == turn["turn_id"] {
			noted = append(noted, fmt.Sprint(record["stage"], " ", record["tool_name"], record["tool"]))
		}
	}
	if len(noted) != 10 {
		t.Errorf("the books of the turn: %v", noted)
	}
	s.kill()
	kept := s.files(t)
	for _, canary := range []string{label, details, context} {
		if at := strings.Index(kept, canary); at >= 0 {
			t.Errorf("the store keeps %s: %q", canary, kept[max(0, at-80):min(len(kept), at+80)])
		}
	}
	if !strings.Contains(kept, objective) {
		t.Error("the store does not keep the plan's question: this test could not fail")
	}
	said := s.output.String()
	address, _ := s.launch()
	_, token, _ := strings.Cut(s.cookie, "=")
	for what, secret := range map[string]string{
		"a label": label, "details": details, "a context": context, "the objective": objective, "the cookie": token, "the CSRF token": s.csrf,
	} {
		if strings.Contains(said, secret) || secret != objective && strings.Contains(kept, secret) {
			t.Errorf("%s appears in the log or the store", what)
		}
	}
	key := address[strings.Index(address, "=")+1:]
	if strings.Count(said, key) != 1 || strings.Contains(kept, key) {
		t.Errorf("the launch key is told %d times", strings.Count(said, key))
	}
}

// files is everything that the service has stored, as bytes.
func (s *station) files(t *testing.T) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(s.folder, "db", "*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no store: %v", err)
	}
	slices.Sort(all)
	var text strings.Builder
	for _, file := range all {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(raw)
	}
	return text.String()
}

// TestWithoutAnAddressThereAreNoAgentTools looks at a service that has none.
func TestWithoutAnAddressThereAreNoAgentTools(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "agent_tools: {workspaces: {}}\n", identityEnv()...)
	s.token = serviceToken
	if got := s.listening(); got != 1 || strings.Contains(s.output.String(), "Agent tools") {
		t.Errorf("the service listens at %d addresses:\n%s", got, s.output)
	}
	for _, path := range []string{toolsPath + "/catalog", "/api/v1/session", "/api/v1/research"} {
		if status, raw := s.request("GET", path, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, raw)
		}
	}
	s.awaitPlugins()
	s.offersNoneOfTheNine(t, false)
}

// otherFacesStayAsTheyAre looks at the service of agent tools from its other address.
func otherFacesStayAsTheyAre(t *testing.T, s *station) {
	if got := s.listening(); got != 2 {
		t.Errorf("the service listens at %d addresses", got)
	}
	s.awaitPlugins()
	s.offersNoneOfTheNine(t, true)
}

// offersNoneOfTheNine wants the tools and plugins that every service has; where there are agent tools, one plugin more.
func (s *service) offersNoneOfTheNine(t *testing.T, reads bool) {
	t.Helper()
	_, raw := s.request("GET", "/v1/tools", nil)
	offered := slices.DeleteFunc(names(s.object(raw)), func(name string) bool { return strings.HasPrefix(name, "pska_") })
	if diff := cmp.Diff([]string{"edit_file", "exec", "glob_files", "grep_files", "list_files", "read_file", "read_result", "write_file"}, offered); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	_, raw = s.request("GET", "/ready", nil)
	plugins := names(s.object(raw))
	want := []string{"evidence-guard", "exec-guard", "files", "pska-scope", "semantic-guard", "shell"}
	if reads {
		want = append(want, "investigation")
		slices.Sort(want)
	}
	if diff := cmp.Diff(want, plugins); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
}

// names are the names in a list of tools or plugins, sorted.
func names(page map[string]any) (all []string) {
	for _, value := range page {
		list, _ := value.([]any)
		for _, one := range list {
			if entry, is := one.(map[string]any); is && entry["name"] != nil {
				all = append(all, fmt.Sprint(entry["name"]))
			}
		}
	}
	slices.Sort(all)
	return all
}

// listening counts the addresses at which the service listens, as the kernel tells.
func (s *service) listening() (count int) {
	s.t.Helper()
	own := map[string]bool{}
	for _, file := range s.descriptors() {
		own[strings.TrimSuffix(strings.TrimPrefix(file, "socket:["), "]")] = true
	}
	for _, table := range []string{"tcp", "tcp6"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", s.command.Process.Pid, table))
		if err != nil {
			continue // a machine without IPv6
		}
		for _, line := range strings.Split(string(raw), "\n") {
			if fields := strings.Fields(line); len(fields) > 9 && fields[3] == "0A" && own[fields[9]] {
				count++
			}
		}
	}
	return count
}

// descriptors says what the service has open.
func (s *service) descriptors() (all []string) {
	s.t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.command.Process.Pid))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("no open files: %v", err)
	}
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil {
			all = append(all, target)
		}
	}
	return all
}
