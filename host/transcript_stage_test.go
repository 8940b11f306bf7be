package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/plugins/builtin"
	"github.com/fastreact/fastreact/plugins/evidence"
	"github.com/fastreact/fastreact/plugins/mcpbridge"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/testdata/peers"
)

// stage is one whole service with a scripted model, and the client of a transcript.
type stage struct {
	t       *testing.T
	model   *scriptedModel
	file    string // the configuration
	log     string // what the example server received
	logs    string // a folder of log files
	token   string
	url     string
	answers map[string]*http.Response
	begun   map[string]chan *http.Response // requests in the background
	ids     *aliases

	options host.Options // of the service that runs
	end     func()       // it
	tools   []byte
	calls   chan string // a name for each call of a native tool
}

func newStage(t *testing.T, archive *txtar.Archive) *stage {
	t.Helper()
	given := map[string][]byte{}
	for _, section := range archive.Files {
		given[section.Name] = section.Data
	}
	folder := t.TempDir()
	s := &stage{
		t: t, model: newModel(t, given["model"]), log: filepath.Join(folder, "received"),
		logs:    filepath.Join(folder, "logs"),
		answers: map[string]*http.Response{}, begun: map[string]chan *http.Response{}, ids: newAliases(),
		tools: given["tools"], calls: make(chan string, 100),
	}
	environment := map[string]string{}
	for line := range strings.Lines(string(given["environment"])) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		environment[name] = value
	}
	s.token = environment["FASTREACT_SERVICE_TOKEN"]
	s.file = filepath.Join(folder, "fastreact.yaml")
	s.keepLog(given["logs"])
	s.rewrite(given["config"])
	loading := host.LoadOptions{
		Path: s.file, Getenv: func(name string) string { return environment[name] },
		AllowAll: strings.TrimSpace(string(given["flags"])) == "--allow-all",
		Overrides: map[string]string{
			"server.addr": "127.0.0.1:0", "store.path": filepath.Join(folder, "fastreact.db"),
			"workspace.root": filepath.Join(folder, "workspaces"), "plugins.cache_dir": prepared(t, compiled),
			"model.base_url": s.model.URL + "/v1", "model.name": "scripted", "model.max_retries": "0",
		},
	}
	loaded, err := host.Load(loading)
	if err != nil {
		t.Fatal(err)
	}
	plugins, err := modules(strings.Fields(string(given["plugins"]))...)
	if err != nil {
		t.Fatal(err)
	}
	options := host.Options{
		Config: loaded.Config, Natives: s.natives(loaded.Config, true), Modules: plugins,
		Version: "0.0.0", Log: slog.New(slog.DiscardHandler),
	}
	if _, again := given["rewrite-1"]; again {
		options.Reload = func() (*host.Loaded, error) { return host.Load(loading) }
	}
	s.run(options)
	return s
}

// rewrite puts settings into the configuration file.
func (s *stage) rewrite(config []byte) {
	s.t.Helper()
	if err := os.WriteFile(s.file, s.expand(config), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// keepLog puts a log file into its folder.
func (s *stage) keepLog(lines []byte) {
	s.t.Helper()
	if err := os.MkdirAll(s.logs, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.logs, "app.log"), lines, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// expand puts the paths of this run into the settings.
func (s *stage) expand(config []byte) []byte {
	config = bytes.ReplaceAll(config, []byte("$LOGS"), []byte(s.logs))
	if !bytes.Contains(config, []byte("$PSKA_KB")) {
		return config
	}
	return []byte(strings.NewReplacer("$PSKA_KB", prepared(s.t, knowledge), "$RECEIVED", s.log).Replace(string(config)))
}

// cacheVariable tells a second process of this test to compile the modules into a folder and to do nothing else.
const cacheVariable = "FASTREACT_TRANSCRIPT_CACHE"

// compiled is a folder with the compiled modules. They are compiled without the race detector, with which it takes
// more than a minute.
var compiled = sync.OnceValues(func() (string, error) {
	cache := filepath.Join(shared, "cache")
	if taken, err := peers.TakeModules(cache); taken || err != nil {
		return cache, err
	}
	return cache, command("env", cacheVariable+"="+cache, "go", "test", "-count=1", ".")
})

// compile fills the folder of compiled modules.
func compile(cache string) error {
	config := host.DefaultConfig()
	config.Plugins.CacheDir = cache
	all, err := modules("exec-guard", "files", "pska-scope", "evidence-guard", "semantic-guard", "investigation")
	if err != nil {
		return err
	}
	options := host.Options{Config: config, Modules: all, Log: slog.New(slog.DiscardHandler)}
	_, err = host.DryRun(context.Background(), options, host.Probe{Tool: "exec", Args: json.RawMessage(`{}`)})
	return err
}

// knowledge is the example server.
var knowledge = sync.OnceValues(func() (string, error) {
	server := filepath.Join(shared, "pska-kb")
	return server, command("go", "build", "-o", server, "../examples/pska-kb")
})

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, out)
	}
	return nil
}

// prepared returns what is prepared once for all transcripts.
func prepared(t *testing.T, prepare func() (string, error)) string {
	t.Helper()
	path, err := prepare()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// natives are the native plugins of one process; hanging, where its tools may hang.
func (s *stage) natives(config host.Config, hanging bool) []sdk.Native {
	t := s.t
	var servers []mcpbridge.Server
	for _, s := range config.MCP.Servers {
		servers = append(servers, mcpbridge.Server{
			Name: s.Name, Description: s.Description, Transport: s.Transport, Command: s.Command, Args: s.Args,
			Isolation: s.Isolation, Scope: s.Scope, ForwardIdentity: s.ForwardIdentity, Timeout: s.Timeout,
		})
	}
	bridge, err := mcpbridge.New(mcpbridge.Config{Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	sources, err := evidence.New(evidence.Config{Logs: evidence.Logs{Roots: config.Harness.Chat.Evidence.Logs.Roots}})
	if err != nil {
		t.Fatal(err)
	}
	return []sdk.Native{bridge, fixed{readFixed(t, s.tools), s.calls, hanging}, sources}
}

// modules returns the built-in plugins of these names, with what the program grants them.
func modules(names ...string) ([]host.Module, error) {
	embedded, err := builtin.Modules()
	if err != nil {
		return nil, err
	}
	var chosen []host.Module
	for _, module := range embedded {
		if !slices.Contains(names, module.Name) {
			continue
		}
		m := host.Module{Name: module.Name, Bytes: module.Bytes}
		switch module.Name {
		case "files":
			m.Grants.Files = []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadWrite}}
		case "investigation":
			m.Grants.Files = []sdk.FileAccess{{Path: "workspace", At: "/", Mode: sdk.ReadOnly}}
			m.Profile = host.AgentTools
		}
		chosen = append(chosen, m)
	}
	return chosen, nil
}

// run starts the service and ends it with the test, or before.
func (s *stage) run(options host.Options) {
	s.t.Helper()
	server, err := host.New(s.t.Context(), options)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	bound, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- server.Run(ctx, func(addr net.Addr) { bound <- addr }) }()
	s.options, s.end = options, sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		if err := server.Close(); err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(s.end)
	select {
	case addr := <-bound:
		s.url = "http://" + addr.String()
	case err := <-ended:
		ended <- err
		s.t.Fatalf("the service ended: %v", err)
	}
}

// send makes the HTTP request that a section describes. It returns when the head of the answer is there.
func (s *stage) send(text string) *http.Response {
	s.t.Helper()
	request := s.request(text)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatalf("%s: %v", request.URL, err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// request is the HTTP request that a section describes.
func (s *stage) request(text string) *http.Request {
	s.t.Helper()
	head, body, _ := strings.Cut(s.ids.real(text), "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body == "" {
		request.Body = http.NoBody
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			request.Host = value
			continue
		}
		request.Header.Add(name, value)
	}
	return request
}

// shownHeaders are the headers that the protocol speaks of.
var shownHeaders = []string{
	"Content-Type", "Cache-Control", "Retry-After", "Www-Authenticate", "X-Fastreact-Run-Id", "X-Fastreact-Session-Id",
	"X-Fastreact-Event-Schema",
}

// read returns the answer to a request, with everything that differs from run to run replaced.
func (s *stage) read(name string) []byte {
	s.t.Helper()
	response := s.answer(name)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var shown bytes.Buffer
	fmt.Fprintln(&shown, response.Status)
	for _, header := range shownHeaders {
		if value := response.Header.Get(header); value != "" {
			fmt.Fprintf(&shown, "%s: %s\n", header, value)
		}
	}
	fmt.Fprintf(&shown, "\n%s\n", body)
	return []byte(s.ids.steady(shown.String()))
}

// leave reads the answer to a request until the end of an event that holds a word, and closes the connection.
func (s *stage) leave(name, until string) []byte {
	s.t.Helper()
	response := s.answer(name)
	defer response.Body.Close()
	var shown bytes.Buffer
	lines, reached := bufio.NewReader(response.Body), false
	for line := ""; !reached || line != "\n"; {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			s.t.Fatalf("%s: the answer ended without %s", shown.Bytes(), until)
		}
		shown.WriteString(line)
		reached = reached || strings.Contains(line, until)
	}
	return []byte(s.ids.steady(shown.String()))
}

// begin sends a request in the background.
func (s *stage) begin(name, text string) {
	s.t.Helper()
	begun, request := make(chan *http.Response, 1), s.request(text)
	s.begun[name] = begun
	go func() {
		defer close(begun)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			s.t.Errorf("%s: %v", request.URL, err)
			return
		}
		begun <- response
	}()
}

// answer returns the answer to a request, when it is there.
func (s *stage) answer(name string) *http.Response {
	s.t.Helper()
	if begun := s.begun[name]; begun != nil {
		s.answers[name] = <-begun
	}
	response := s.answers[name]
	if response == nil {
		s.t.Fatalf("section %s has no request-%s before it", name, name)
	}
	return response
}

// await asks until so many wait for an executor.
func (s *stage) await(words []string) {
	s.t.Helper()
	var metrics struct {
		Executors map[string]struct{ Waiting int }
	}
	for want := number(s.t, words[1]); metrics.Executors[words[0]].Waiting != want; {
		response := s.send("GET /v1/metrics")
		err := json.NewDecoder(response.Body).Decode(&metrics)
		response.Body.Close()
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func number(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wait reads a run's stream until an event of one type.
func (s *stage) wait(words []string) {
	s.t.Helper()
	runID, until := words[0], words[1]
	head := "GET /v1/runs/" + runID + "/stream"
	if s.token != "" {
		head += "\nAuthorization: Bearer " + s.token
	}
	response := s.send(head)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if lines.Text() == "event: "+until {
			return
		}
	}
	s.t.Fatalf("%s: the stream of %s ended without %s", response.Status, runID, until)
}

func (s *stage) asked() []byte { return []byte(s.ids.steady(string(s.model.asked(s.t)))) }

func (s *stage) received() []byte {
	raw, err := os.ReadFile(s.log)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return []byte(s.ids.steady(string(raw)))
}

// fixed is a native plugin whose tools answer with a fixed text.
type fixed struct {
	tools   []fixedTool
	calls   chan<- string
	hanging bool // tools that hang do
}

type fixedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Result      string          `json:"result"`
	Hangs       bool            `json:"hangs"`
}

func readFixed(t *testing.T, script []byte) (tools []fixedTool) {
	decoder := json.NewDecoder(bytes.NewReader(script))
	for decoder.More() {
		var tool fixedTool
		if err := decoder.Decode(&tool); err != nil {
			t.Fatalf("tools: %v", err)
		}
		tools = append(tools, tool)
	}
	return tools
}

func (fixed) Name() string { return "fixed" }

func (f fixed) Tools(context.Context) []sdk.NativeTool {
	var tools []sdk.NativeTool
	for _, tool := range f.tools {
		tools = append(tools, sdk.NativeTool{
			Name: tool.Name, RawName: tool.Name, Description: tool.Description, InputSchema: tool.Schema,
		})
	}
	return tools
}

func (f fixed) Invoke(ctx context.Context, registered string, _ sdk.Call) (sdk.Result, error) {
	for _, tool := range f.tools {
		if tool.Name != registered {
			continue
		}
		f.calls <- registered
		if tool.Hangs && f.hanging {
			<-ctx.Done()
			return sdk.Result{}, context.Cause(ctx)
		}
		return sdk.Result{Content: tool.Result}, nil
	}
	return sdk.Result{}, fmt.Errorf("no tool %s", registered)
}

func (fixed) Status() []sdk.SourceStatus { return nil }

func (fixed) Close() error { return nil }
