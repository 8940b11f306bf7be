package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// withTools builds a server with agent tools over one workspace that holds no snapshot, and without their reader.
func withTools(t *testing.T, edit func(*Options)) *Server {
	t.Helper()
	folder := t.TempDir()
	options := Options{Config: DefaultConfig(), Log: slog.New(slog.DiscardHandler)}
	cfg := &options.Config
	cfg.Server.Addr = "127.0.0.1:0"
	cfg.Store.Path, cfg.Plugins.CacheDir = filepath.Join(folder, "f.db"), filepath.Join(folder, "cache")
	cfg.Workspace.Root = filepath.Join(folder, "workspaces")
	cfg.AgentTools.Addr, cfg.AgentTools.Workspaces = "127.0.0.1:0", map[string]string{"demo": folder}
	if edit != nil {
		edit(&options)
	}
	s, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func offeredNames(s *Server) []string {
	names := []string{}
	for _, tool := range s.gate.Tools(context.Background()) {
		names = append(names, tool.Name)
	}
	return names
}

func TestWithoutAnAddressNothingOfAgentToolsIsThere(t *testing.T) {
	s := withTools(t, func(o *Options) { o.Config.AgentTools.Addr = "" })
	listener, err := s.listenTools()
	if s.tools != nil || listener != nil || err != nil || strings.Contains(strings.Join(offeredNames(s), " "), "research") {
		t.Errorf("tools %v, listener %v, %v; the gate offers %v", s.tools, listener, err, offeredNames(s))
	}
}

func TestAgentToolsAreForTheirOwnProfileOnly(t *testing.T) {
	s := withTools(t, nil)
	if offered := strings.Join(offeredNames(s), " "); !strings.Contains(offered, "research_get_state research_prepare") {
		t.Errorf("the gate offers %s", offered)
	}
	for _, tool := range s.gate.Visible(t.Context(), run.ToolPolicy{}) {
		if strings.HasPrefix(tool.Name, "research") {
			t.Errorf("every run sees %s", tool.Name)
		}
	}
	if run.AgentTools != AgentTools {
		t.Errorf("the tools of the desk are for %q, those of the readers for %q", run.AgentTools, AgentTools)
	}
}

// TestNoOtherToolTakesANameOfTheDesk: names of the desk are kept from MCP servers, and it is asked before every plugin.
func TestNoOtherToolTakesANameOfTheDesk(t *testing.T) {
	s := withTools(t, nil)
	kept := []string{}
	for _, tool := range s.tools.desk.Tools(t.Context()) {
		kept = append(kept, tool.Name)
	}
	if diff := cmp.Diff(kept, AgentToolNames(s.options.Config)); diff != "" {
		t.Errorf("names that are kept (-offered +kept):\n%s", diff)
	}
	sources, err := s.sources(s.serving.Load())
	if first, is := sources[0].(repeatable).Source.(*research.Desk); err != nil || !is || first != s.tools.desk {
		t.Errorf("the first source is %T, %v", sources[0], err)
	}
}

func TestTheOnlyWorkspaceIsActiveAndItsToolsSayWhatIsMissing(t *testing.T) {
	s := withTools(t, nil)
	got := map[string]string{}
	for _, tool := range s.tools.gateway.Catalog(t.Context()).Tools {
		got[tool.ToolID] = tool.Availability
	}
	want := map[string]string{
		"investigation.search": "UNAVAILABLE", "graph.get_node": "UNAVAILABLE", "graph.get_neighbors": "UNAVAILABLE",
		"evidence.get_summary": "UNAVAILABLE", "evidence.read_excerpt": "UNAVAILABLE", "provenance.trace": "UNAVAILABLE",
		"jobs.get": "UNAVAILABLE", "research.get_state": "AVAILABLE", "research.prepare": "UNAVAILABLE",
	}
	if diff := cmp.Diff(want, got); diff != "" || s.tools.gateway.Active() != "demo" {
		t.Errorf("active: %q; availability (-want +got):\n%s", s.tools.gateway.Active(), diff)
	}
}

func TestAToolWorksWhenItsSnapshotIsThere(t *testing.T) {
	s := withTools(t, nil)
	folder := s.options.Config.AgentTools.Workspaces["demo"]
	for _, step := range []struct {
		put        string
		core, jobs string
	}{
		{"", snapshotMissing, snapshotMissing},
		{coreSnapshot, "", snapshotMissing},
		{jobsSnapshot, "", ""},
	} {
		if step.put != "" {
			if err := os.WriteFile(filepath.Join(folder, step.put), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := []string{
			s.obstacle(t.Context(), "demo", "graph.get_node"), s.obstacle(t.Context(), "demo", "research.prepare"),
			s.obstacle(t.Context(), "demo", "jobs.get"), s.obstacle(t.Context(), "demo", "research.get_state"),
		}
		if diff := cmp.Diff([]string{step.core, step.core, step.jobs, ""}, got); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", step.put, diff)
		}
	}
}

func TestAFolderInTheSnapshotsPlaceIsNone(t *testing.T) {
	s := withTools(t, nil)
	if err := os.Mkdir(filepath.Join(s.options.Config.AgentTools.Workspaces["demo"], coreSnapshot), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := s.obstacle(t.Context(), "demo", "graph.get_node"); got != snapshotMissing {
		t.Errorf("got %q", got)
	}
}

func TestAnAddressOfAgentToolsThatIsTakenEndsTheStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := withTools(t, func(o *Options) { o.Config.AgentTools.Addr = taken.Addr().String() })
	err = s.Run(t.Context(), func(net.Addr) { t.Error("the service says that it is ready") })
	if err == nil || !strings.HasPrefix(err.Error(), "listen for agent tools: ") {
		t.Errorf("got %v", err)
	}
}

// wrote is a log that a test reads when its writers have ended.
type wrote struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *wrote) Write(record []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(record)
}

func TestTheLaunchAddressIsAnnouncedWorksAndIsInNoLog(t *testing.T) {
	announced, ready, logged := make(chan string, 4), make(chan struct{}), &wrote{}
	s := withTools(t, func(o *Options) {
		o.Announce = func(address string) { announced <- address }
		o.Log = slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, func(net.Addr) { close(ready) }) }()
	launch := <-announced // before anybody is told that the service is ready
	<-ready
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(launch)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	next := <-announced
	stop()
	if err := <-ended; err != nil || answer.StatusCode != http.StatusSeeOther {
		t.Errorf("status %d; the service ended with %v", answer.StatusCode, err)
	}
	for _, one := range []string{launch, next} {
		if key := keyOf(t, one); strings.Contains(logged.text.String(), key) {
			t.Errorf("the log holds a key:\n%s", logged.text.String())
		}
	}
}

func keyOf(t *testing.T, launch string) string {
	t.Helper()
	parsed, err := url.Parse(launch)
	if err != nil || len(parsed.Query().Get("launch")) < 32 {
		t.Fatalf("%q is no launch address: %v", launch, err)
	}
	return parsed.Query().Get("launch")
}

func TestAServerThatNeverRanEndsItsAgentTools(t *testing.T) {
	s := withTools(t, nil)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.tools.gateway.Start(t.Context(), "anything"); err == nil {
		t.Error("the gateway takes a turn")
	}
	if _, err := s.tools.runtime.Start(t.Context(), "anything", ""); err == nil {
		t.Error("the local agent takes a turn")
	}
}

func TestWhatTheReaderSaysOfAnObjectIsUnderstood(t *testing.T) {
	for content, want := range map[string]struct {
		revision int64
		known    bool
		code     run.Code
		failed   bool
	}{
		`{"node":{"id":"a"},"revision":7,"object_refs":[]}`: {revision: 7, known: true},
		`{"node":{"id":"a"},"revision":0}`:                  {known: true},
		`{"error":"object_unknown"}`:                        {},
		`{"error":"snapshot_missing"}`:                      {code: "snapshot_missing", failed: true},
		`{"error":"snapshot_too_large"}`:                    {code: "snapshot_too_large", failed: true},
		`{"revision":7}`:                                    {failed: true},
		`{}`:                                                {failed: true},
		`[ERROR] Tool 'graph_get_node' could not be run`:    {failed: true},
		``: {failed: true},
	} {
		revision, known, err := readingOf(run.CallOutcome{Content: content, IsError: strings.Contains(content, "rror")})
		var coded *run.Error
		code := run.Code("")
		if errors.As(err, &coded) {
			code = coded.Code
		}
		if revision != want.revision || known != want.known || code != want.code || (err != nil) != want.failed {
			t.Errorf("%s: %d %v %v", content, revision, known, err)
		}
	}
}

// manifest reads the manifest of the readers.
func manifest(t *testing.T) sdk.Manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "plugins", "investigation", "module", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var read sdk.Manifest
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func schemaOf(t *testing.T, text json.RawMessage) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("input.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("input.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestNoInputThatTheCatalogueTakesIsRefusedBehindIt: a client that keeps to the catalogue never hears that its input
// was wrong.
func TestNoInputThatTheCatalogueTakesIsRefusedBehindIt(t *testing.T) {
	s := withTools(t, nil)
	behind := map[string]json.RawMessage{}
	for _, tool := range manifest(t).Tools {
		behind[tool.Name] = tool.InputSchema
	}
	for _, tool := range s.gate.Tools(t.Context()) {
		behind[tool.Name] = tool.Schema
	}
	const uuid = "0b8e6a52-6F0f-5d0c-9d6e-0f6f0d6b1c11"
	values := []any{
		uuid, "entity:" + uuid, "a-b_9:" + uuid, strings.Repeat("k", 32) + ":" + uuid, strings.Repeat("k", 33) + ":" + uuid,
		"Entity:" + uuid, ":" + uuid, uuid + " ", "x", "", " ", strings.Repeat("é", 512), strings.Repeat("é", 513), "\u202e<b>\x1b[31m",
		nil, 7,
		[]any{},
		[]any{uuid},
		[]any{uuid, "entity:" + uuid},
		[]any{uuid, uuid},
		[]any{"x"},
		[]any{"x", "y", "z", "1", "2", "3", "4", "5", "6"},
	}
	taken := 0
	for _, tool := range s.tools.gateway.Catalog(t.Context()).Tools {
		shown, meant := schemaOf(t, tool.InputSchema), schemaOf(t, behind[strings.Replace(tool.ToolID, ".", "_", 1)])
		for _, input := range inputs(t, tool.InputSchema, values) {
			if shown.Validate(input) != nil {
				continue
			}
			taken++
			if err := meant.Validate(input); err != nil {
				t.Errorf("%s takes %v, and behind it: %v", tool.ToolID, input, err)
			}
		}
	}
	if taken < 40 {
		t.Errorf("only %d inputs were taken", taken)
	}
}

// inputs makes inputs with each of the values in each of the members that a schema names.
func inputs(t *testing.T, schema json.RawMessage, values []any) []any {
	t.Helper()
	var shape struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(schema, &shape); err != nil {
		t.Fatal(err)
	}
	made := []any{map[string]any{}}
	for _, name := range sortedKeys(shape.Properties) {
		var longer []any
		for _, one := range made {
			for _, value := range values {
				input := map[string]any{name: value}
				for key, known := range one.(map[string]any) {
					input[key] = known
				}
				longer = append(longer, input)
			}
		}
		made = longer
	}
	return made
}

// withReader puts a reader that is not loaded yet into a server.
func withReader(t *testing.T, edit func(*Options)) (*Server, *resident) {
	t.Helper()
	s := withTools(t, edit)
	reader := &resident{profile: AgentTools, done: make(chan struct{}), tally: &tally{}}
	served := s.serving.Load()
	s.serving.Store(&generation{residents: []*resident{reader}})
	t.Cleanup(func() { s.serving.Store(served) })
	return s, reader
}

func TestNoLaunchAddressIsToldWhileTheReaderIsBeingLoaded(t *testing.T) {
	s, _ := withReader(t, func(o *Options) { o.Announce = func(string) { t.Error("an address is told") } })
	listener, err := s.listenTools()
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := s.serveTools(stopped, listener); err != nil {
		t.Errorf("a stop during the wait: %v", err)
	}
	again, err := net.Listen("tcp", listener.Addr().String())
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	_ = again.Close()
}

func TestAReaderThatNeverLoadsLeavesAPageThatSaysSo(t *testing.T) {
	announced := make(chan string, 1)
	s, reader := withReader(t, func(o *Options) { o.Announce = func(address string) { announced <- address } })
	listener, err := s.listenTools()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.serveTools(t.Context(), listener) }()
	reader.err = errRetired
	close(reader.done)
	keyOf(t, <-announced)
	if got := s.obstacle(t.Context(), "demo", "graph.get_node"); got != readerFailed {
		t.Errorf("what stands against a tool: %q", got)
	}
	s.drainTools(t.Context())
	if err := <-ended; err != nil {
		t.Errorf("after the drain: %v", err)
	}
}
