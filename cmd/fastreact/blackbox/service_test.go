package blackbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// service is one process of the program under test.
type service struct {
	t       *testing.T
	life    *testing.T // at whose end the process ends; nil is t
	url     string
	folder  string
	command *exec.Cmd
	output  *lockedBuffer
	token   string
	env     []string
	config  string
	exited  chan struct{} // closed when the process is gone
}

// lockedBuffer collects what the program prints.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var (
	bound   = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	listens = regexp.MustCompile(` listens on (http://127\.0\.0\.1:\d+)`) // the agent tools announce theirs before
)

// oracleLog is where the scripted MCP server of a service keeps its oracle.
func (s *service) oracleLog() string { return filepath.Join(s.folder, "mcp.log") }

// config returns a configuration with a scripted model, a scripted MCP server named pska, and more lines.
func config(t *testing.T, folder string, model *scriptedModel, more string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(more, "plugins: {") { // a section stands once
		more += loadingNone(t)
	}
	return fmt.Sprintf(`server: {addr: "127.0.0.1:0", keepalive: 1s, shutdown_grace: 2s}
model: {base_url: %q, name: scripted, first_byte_timeout: 20s}
store: {path: %q}
workspace: {root: %q}
mcp:
  servers:
    - {name: pska, command: %q, env: {BLACKBOX_MCP_LOG: %q}}
%s`, model.URL+"/v1", filepath.Join(folder, "db", "f.db"), filepath.Join(folder, "ws"),
		self, filepath.Join(folder, "mcp.log"), more)
}

// loadingNone is the configuration of a service without plugins of its own.
func loadingNone(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("\nplugins: {cache_dir: %q}\n", cacheDir(t))
}

// cacheDir is shared by all services, so that modules are compiled once.
func cacheDir(t *testing.T) string {
	t.Helper()
	return cache
}

// start writes the configuration and runs the program until it answers.
func start(t *testing.T, model *scriptedModel, more string, env ...string) *service {
	t.Helper()
	folder := t.TempDir()
	s := &service{t: t, folder: folder, env: env, config: filepath.Join(folder, "fastreact.yaml")}
	if err := os.WriteFile(s.config, []byte(config(t, folder, model, more)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	return s
}

// startEdited is start with a configuration that edit has changed.
func startEdited(t *testing.T, model *scriptedModel, edit func(string) string, env ...string) *service {
	t.Helper()
	folder := t.TempDir()
	s := &service{t: t, folder: folder, env: env, config: filepath.Join(folder, "fastreact.yaml")}
	if err := os.WriteFile(s.config, []byte(edit(config(t, folder, model, ""))), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	return s
}

// run starts the process (again) and waits until it is healthy.
func (s *service) run() {
	s.t.Helper()
	s.begin()
	s.awaitHealth(s.exited)
}

// begin starts the process (again).
func (s *service) begin() {
	s.t.Helper()
	command, exited := exec.Command(binary, "serve", "--config", s.config), make(chan struct{})
	s.output = &lockedBuffer{}
	command.Dir = s.folder
	command.Env = append(os.Environ(), s.env...)
	command.Stdout, command.Stderr = s.output, s.output
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.command, s.exited = command, exited
	go func() { _ = command.Wait(); close(exited) }()
	cmp.Or(s.life, s.t).Cleanup(func() { s.bury(command.Process, exited) })
}

// bury kills a process that begin started, and waits until it and its children are gone: one of them that still begins
// would write into the folder while that is removed.
func (s *service) bury(process *os.Process, exited chan struct{}) {
	var all []int
	if process.Signal(syscall.SIGSTOP) == nil { // so that it has no more of them
		all = children(s.t, process.Pid)
	}
	_ = process.Kill()
	<-exited
	for _, child := range all {
		awaitGone(s.t, child)
	}
}

func (s *service) awaitHealth(exited chan struct{}) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(60 * time.Second)
	for {
		select {
		case <-exited:
			s.t.Fatalf("the program ended:\n%s", s.output)
		case <-limit:
			s.t.Fatalf("the program does not answer:\n%s", s.output)
		case <-tick.C:
		}
		said := listens.FindStringSubmatch(s.output.String())
		if said == nil {
			continue
		}
		s.url = said[1]
		response, err := http.Get(s.url + "/health")
		if err == nil {
			response.Body.Close()
			return
		}
	}
}

// await asks again and again until the answer is yes. At the limit it fails with what the last answer said.
func (s *service) await(limit time.Duration, ask func() (yes bool, otherwise string)) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	over := time.After(limit)
	for {
		yes, otherwise := ask()
		if yes {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			s.t.Fatalf("%s\n%s", otherwise, s.output)
		}
	}
}

// kill is kill -9.
func (s *service) kill() { _ = s.command.Process.Kill() }

// request sends one request and returns status and body.
func (s *service) request(method, path string, body any, headers ...string) (int, []byte) {
	s.t.Helper()
	response := s.open(method, path, body, headers...)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, s.output)
	}
	return response.StatusCode, raw
}

// open sends one request and returns the response with its body still to be read.
func (s *service) open(method, path string, body any, headers ...string) *http.Response {
	s.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequest(method, s.url+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, s.output)
	}
	return response
}

// object decodes a JSON object or fails.
func (s *service) object(raw []byte) map[string]any {
	s.t.Helper()
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		s.t.Fatalf("not a JSON object: %v\n%s", err, raw)
	}
	return object
}
