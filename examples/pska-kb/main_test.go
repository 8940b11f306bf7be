package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/mcpbridge"
	"github.com/fastreact/fastreact/sdk"
)

// asServer makes the test binary behave like the command.
const asServer = "PSKA_KB_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// kb is the server behind the bridge, as a FastReAct host uses it.
type kb struct {
	bridge *mcpbridge.Bridge
	log    string
}

func start(t *testing.T, change func(*mcpbridge.Server)) kb {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls.jsonl")
	server := mcpbridge.Server{
		Name: "pska", Command: os.Args[0], Args: []string{"--log", log}, Scope: true, ForwardIdentity: true,
		Env: mcpbridge.Secrets{asServer: "1", "GORACE": "atexit_sleep_ms=0"},
	}
	if change != nil {
		change(&server)
	}
	bridge, err := mcpbridge.New(mcpbridge.Config{
		Servers:   []mcpbridge.Server{server},
		Transport: func(string) (http.RoundTripper, error) { return &http.Transport{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bridge.Close() })
	return kb{bridge, log}
}

// ask calls a tool for a user and returns what came back, decoded.
func (k kb) ask(t *testing.T, user, tool, args string) (answer, sdk.Result) {
	t.Helper()
	call := sdk.Call{Args: json.RawMessage(args), Identity: sdk.Identity{UserKey: user, TenantKey: "pska"}}
	result, err := k.bridge.Invoke(context.Background(), "pska_"+tool, call)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if !result.IsError {
		if err := json.Unmarshal([]byte(result.Content), &a); err != nil {
			t.Fatalf("%q: %v", result.Content, err)
		}
	}
	return a, result
}

func ids(a answer) []string {
	list := []string{}
	for _, c := range a.Citations {
		list = append(list, c.SourceItemID)
	}
	return list
}

func TestToolsHavePSKAsNames(t *testing.T) {
	var got []string
	for _, tool := range start(t, nil).bridge.Tools(context.Background()) {
		got = append(got, tool.Name)
	}
	want := []string{
		"pska_pska_agentic_search", "pska_pska_digest_context", "pska_pska_extract_all", "pska_pska_graph_context", "pska_pska_index_status",
		"pska_pska_ingest_channel_payload", "pska_pska_read_evidence_context", "pska_pska_review_items", "pska_pska_search",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSearchCitesWhatItFinds(t *testing.T) {
	a, _ := start(t, nil).ask(t, "pska:user_primary", "pska_search", `{"query":"mirror cleaning"}`)
	if len(a.Results) == 0 || a.Results[0].Citation != (citation{"src_beta_mirror", "kb_beta", "Cleaning the main mirror"}) || a.Results[0].Score <= 0 {
		t.Errorf("got %+v", a.Results)
	}
}

func TestUserSeesOnlyWhatIsVisibleToThem(t *testing.T) {
	k := start(t, nil)
	for user, want := range map[string][]string{
		"pska:user_primary": {"src_alpha_diary", "src_alpha_harbour", "src_alpha_lantern", "src_beta_dome", "src_beta_night"},
		"pska:user_second":  {"src_alpha_harbour", "src_alpha_lantern", "src_beta_budget", "src_beta_dome", "src_beta_night"},
		"pska:stranger":     {"src_alpha_harbour", "src_beta_dome", "src_beta_night"},
		"":                  {"src_alpha_harbour", "src_beta_dome", "src_beta_night"},
	} {
		a, _ := k.ask(t, user, "pska_search", `{"query":"lantern","top_k":20}`)
		if diff := cmp.Diff(want, sortedCopy(ids(a))); diff != "" {
			t.Errorf("%s: %s", user, diff)
		}
	}
}

func sortedCopy(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestForwardedIdentityCountsMoreThanTheArgument(t *testing.T) {
	a, _ := start(t, nil).ask(t, "pska:stranger", "pska_search", `{"query":"diary","user_id":"user_primary"}`)
	if len(a.Results) != 0 {
		t.Errorf("got %+v", a.Results)
	}
}

func TestArgumentNamesTheUserWhenNoIdentityIsForwarded(t *testing.T) {
	k := start(t, func(s *mcpbridge.Server) { s.ForwardIdentity = false })
	a, _ := k.ask(t, "pska:stranger", "pska_search", `{"query":"diary","user_id":"user_primary"}`)
	if diff := cmp.Diff([]string{"src_alpha_diary"}, ids(a)); diff != "" {
		t.Error(diff)
	}
}

func TestScopeBoundsWhatIsFound(t *testing.T) {
	k := start(t, nil)
	for args, want := range map[string][]string{
		`{"query":"lantern","top_k":20,"knowledge_base_ids":["kb_beta"]}`:                                                 {"src_beta_dome", "src_beta_night"},
		`{"query":"lantern","top_k":20,"knowledge_base_ids":"kb_beta"}`:                                                   {"src_beta_dome", "src_beta_night"},
		`{"query":"lantern","top_k":20,"scope":{"mode":"hard","knowledge_base_ids":["kb_beta"]}}`:                         {"src_beta_dome", "src_beta_night"},
		`{"query":"lantern","top_k":20,"source_item_ids":["src_beta_dome","src_alpha_diary","src_beta_budget"]}`:          {"src_alpha_diary", "src_beta_dome"},
		`{"query":"lantern","top_k":20,"knowledge_base_ids":["kb_alpha"],"source_item_ids":["src_beta_dome"]}`:            {},
		`{"query":"lantern","top_k":20,"knowledge_base_ids":[],"source_item_ids":[],"scope":{"knowledge_base_ids":null}}`: {"src_alpha_diary", "src_alpha_harbour", "src_alpha_lantern", "src_beta_dome", "src_beta_night"},
	} {
		a, _ := k.ask(t, "pska:user_primary", "pska_search", args)
		if diff := cmp.Diff(want, sortedCopy(ids(a))); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

func TestEveryReadingToolKeepsTheScope(t *testing.T) {
	k := start(t, nil)
	for _, tool := range []string{"pska_search", "pska_agentic_search", "pska_index_status", "pska_read_evidence_context", "pska_graph_context", "pska_digest_context", "pska_review_items"} {
		_, result := k.ask(t, "pska:user_primary", tool, `{"query":"lantern repair","top_k":20,"knowledge_base_ids":["kb_alpha"]}`)
		if strings.Contains(result.Content, "beta") || strings.Contains(result.Content, "observatory") || result.IsError {
			t.Errorf("%s: %s", tool, result.Content)
		}
	}
}

func TestSameQuestionGetsTheSameBytes(t *testing.T) {
	k := start(t, nil)
	for _, tool := range []string{"pska_search", "pska_agentic_search", "pska_graph_context"} {
		_, first := k.ask(t, "pska:user_primary", tool, `{"query":"the lantern of the harbour","top_k":20}`)
		_, second := k.ask(t, "pska:user_primary", tool, `{"query":"the lantern of the harbour","top_k":20}`)
		if first.Content != second.Content {
			t.Errorf("%s: %s\n%s", tool, first.Content, second.Content)
		}
	}
}

func TestNumberOfResultsIsBoundedHoweverItIsWritten(t *testing.T) {
	k := start(t, nil)
	for topK, want := range map[string]int{"2": 2, "2.0": 2, "1e0": 1, "0": 5, "-3": 5, "1e300": 5} {
		a, _ := k.ask(t, "pska:user_primary", "pska_search", `{"query":"lantern","top_k":`+topK+`}`)
		if len(a.Results) != want {
			t.Errorf("top_k %s: got %d results, want %d", topK, len(a.Results), want)
		}
	}
}

func TestSmallWordsOfAQuestionDoNotDecide(t *testing.T) {
	a, _ := start(t, nil).ask(t, "pska:user_primary", "pska_search", `{"query":"What do the notes say about the repair of the lantern?"}`)
	if len(a.Results) == 0 || a.Results[0].Citation.SourceItemID != "src_alpha_lantern" {
		t.Errorf("got %+v", a.Results)
	}
}

func TestQueryIsNeverAnExpression(t *testing.T) {
	k := start(t, nil)
	for _, query := range []string{`lantern" OR "x`, `NEAR(`, `*`, `-`, `body:lantern`, `'; DROP TABLE notes;`, ""} {
		encoded, _ := json.Marshal(map[string]string{"query": query})
		if _, result := k.ask(t, "pska:user_primary", "pska_search", string(encoded)); result.IsError {
			t.Errorf("%q: %s", query, result.Content)
		}
	}
}

func TestIngestedNoteIsFoundOnlyAfterItsOwnerApprovesIt(t *testing.T) {
	k := start(t, nil)
	const note = `{"title":"Zeppelin","text":"A zeppelin landed. It left again.","knowledge_base_id":"kb_alpha","channel":"mail"}`
	added, _ := k.ask(t, "pska:user_primary", "pska_ingest_channel_payload", note)
	id := added.Citations[0].SourceItemID
	if found, _ := k.ask(t, "pska:user_primary", "pska_search", `{"query":"zeppelin"}`); len(found.Results) != 0 {
		t.Errorf("found before review: %+v", found.Results)
	}
	if waiting, _ := k.ask(t, "pska:user_primary", "pska_review_items", `{}`); cmp.Diff([]string{id}, ids(waiting)) != "" {
		t.Errorf("waiting: %+v", waiting)
	}
	if _, refused := k.ask(t, "pska:user_second", "pska_review_items", `{"action":"approve","source_item_id":"`+id+`"}`); !refused.IsError {
		t.Errorf("somebody else approved: %s", refused.Content)
	}
	k.ask(t, "pska:user_primary", "pska_review_items", `{"action":"approve","source_item_id":"`+id+`"}`)
	if found, _ := k.ask(t, "pska:user_primary", "pska_search", `{"query":"zeppelin"}`); cmp.Diff([]string{id}, ids(found)) != "" {
		t.Errorf("after review: %+v", found)
	}
	if found, _ := k.ask(t, "pska:user_second", "pska_search", `{"query":"zeppelin"}`); len(found.Results) != 0 {
		t.Errorf("somebody else found it: %+v", found)
	}
}

func TestRejectedNoteIsGone(t *testing.T) {
	k := start(t, nil)
	added, _ := k.ask(t, "pska:user_primary", "pska_ingest_channel_payload", `{"title":"a","text":"b","knowledge_base_id":"kb_alpha"}`)
	k.ask(t, "pska:user_primary", "pska_review_items", `{"action":"reject","source_item_id":"`+added.Citations[0].SourceItemID+`"}`)
	status, _ := k.ask(t, "pska:user_primary", "pska_extract_all", `{}`)
	if status.Diagnostics["pending_review"] != 0.0 || status.Diagnostics["indexed"] != 11.0 {
		t.Errorf("got %+v", status.Diagnostics)
	}
}

func TestStrangerWithoutANameAddsNothing(t *testing.T) {
	if _, result := start(t, nil).ask(t, "", "pska_ingest_channel_payload", `{"title":"a","text":"b","knowledge_base_id":"c"}`); !result.IsError {
		t.Errorf("got %s", result.Content)
	}
}

func TestCallLogHoldsTheParamsAsReceived(t *testing.T) {
	k := start(t, nil)
	k.ask(t, "pska:user_primary", "pska_search", `{"top_k":2.0,"query":"<b>","n":12345678901234567890}`)
	text, err := os.ReadFile(k.log)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_meta":{"tenant_key":"pska","user_key":"pska:user_primary"},"arguments":{"n":12345678901234567890,"query":"<b>","top_k":2.0},` +
		`"name":"pska_search","tenant_key":"pska","user_key":"pska:user_primary"}` + "\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

func TestServesStreamableHTTPToo(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asServer+"=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, _ := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "url=")
	if !found {
		t.Fatalf("said %q", line)
	}
	k := start(t, func(s *mcpbridge.Server) { s.Command, s.Args, s.Env, s.URL = "", nil, nil, url })
	a, _ := k.ask(t, "pska:user_primary", "pska_search", `{"query":"diary"}`)
	if diff := cmp.Diff([]string{"src_alpha_diary"}, ids(a)); diff != "" {
		t.Error(diff)
	}
}

func TestNotesComeFromAFolderOfYours(t *testing.T) {
	folder := t.TempDir()
	text := "---\nsource_item_id: mine\nknowledge_base_id: kb\ntitle: Mine\nowner: me\n---\nA walrus.\n"
	if err := os.WriteFile(filepath.Join(folder, "a.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := start(t, func(s *mcpbridge.Server) { s.Args = []string{"--notes", folder} })
	a, _ := k.ask(t, "x:me", "pska_search", `{"query":"walrus"}`)
	if diff := cmp.Diff([]string{"mine"}, ids(a)); diff != "" {
		t.Error(diff)
	}
}
