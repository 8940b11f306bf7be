package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
	"github.com/fastreact/fastreact/host"
)

// toolStage is one service with agent tools, and the browser that opened its launch address.
type toolStage struct {
	t        *testing.T
	folder   string
	options  host.LoadOptions
	stop     func() // ends the service
	url      string
	cookie   string
	csrf     string
	provider *provider
	model    *scriptedModel // nil = there is none
	ids      *toolAliases
	requests map[string]string
	answers  map[string]toolAnswer
}

func newToolStage(t *testing.T, config string, script []byte) *toolStage {
	t.Helper()
	folder := t.TempDir()
	s := &toolStage{
		t: t, folder: folder, provider: newProvider(t), ids: newToolAliases(),
		requests: map[string]string{}, answers: map[string]toolAnswer{},
	}
	places := []string{"$PROVIDER", s.provider.URL + "/lookup", "$EMPTY", t.TempDir()}
	if script != nil {
		s.model = newModel(t, script)
		places = append(places, "$MODEL", s.model.URL)
	}
	for name, specimens := range map[string]specimen.Workspace{
		"$HARBOUR": specimen.Harbour(), "$OBSERVATORY": specimen.Observatory(), "$HOSTILE": specimen.Hostile(),
	} {
		at := filepath.Join(folder, strings.TrimPrefix(name, "$"))
		if err := specimen.Write(at, specimens); err != nil {
			t.Fatal(err)
		}
		s.ids.keep(string(specimens.Core) + string(specimens.Jobs))
		places = append(places, name, at)
	}
	path := filepath.Join(folder, "fastreact.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(places...).Replace(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.options = host.LoadOptions{
		Path: path, Getenv: func(string) string { return "" },
		Overrides: map[string]string{
			"server.addr": "127.0.0.1:0", "agent_tools.addr": "127.0.0.1:0",
			"store.path": filepath.Join(folder, "fastreact.db"), "workspace.root": filepath.Join(folder, "workspaces"),
			"plugins.cache_dir": prepared(t, compiled),
		},
	}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

// start runs the service and opens the page.
func (s *toolStage) start() {
	s.t.Helper()
	loaded, err := host.Load(s.options)
	if err != nil {
		s.t.Fatal(err)
	}
	plugins, err := modules("investigation")
	if err != nil {
		s.t.Fatal(err)
	}
	launches := make(chan string, 2) // one to open, and the next
	server, err := host.New(s.t.Context(), host.Options{
		Config: loaded.Config, Modules: plugins, Version: "0.0.0", Log: slog.New(slog.DiscardHandler),
		Announce: func(url string) { launches <- url },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, func(net.Addr) {}) }()
	s.stop = func() {
		end()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		if err := server.Close(); err != nil {
			s.t.Error(err)
		}
	}
	select {
	case launch := <-launches:
		s.open(launch)
	case err := <-ended:
		ended <- err
		s.t.Fatalf("the service ended: %v", err)
	}
}

func (s *toolStage) restart() {
	s.stop()
	s.start()
	s.ids.base = map[counter]int64{}
}

// open follows a launch address, and reads what the page's requests need.
func (s *toolStage) open(launch string) {
	s.t.Helper()
	s.url, _, _ = strings.Cut(launch, "/?")
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, launch, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	response.Body.Close()
	s.cookie, _, _ = strings.Cut(response.Header.Get("Set-Cookie"), ";")
	var session struct{ CSRF string }
	if err := json.Unmarshal([]byte(s.exchange("GET /api/v1/session").body), &session); err != nil {
		s.t.Fatal(err)
	}
	s.csrf = session.CSRF
}

// within is the stage for one of many transcripts: in a workspace that nobody used yet, as if nothing had been before.
func (s *toolStage) within(t *testing.T, workspace string) *toolStage {
	t.Helper()
	own := *s
	own.t, own.ids = t, s.ids.anew()
	own.requests, own.answers = map[string]string{}, map[string]toolAnswer{}
	own.provider.forget()
	if got := own.exchange("POST /api/v1/workspaces/" + workspace + "/activate"); got.code != http.StatusOK {
		t.Fatalf("activate: %s", got.body)
	}
	for path, c := range map[string]counter{"/api/v1/agent-tools/events": ofTools, "/api/v1/agent-runtime/events": ofRuntime} {
		var page struct{ Cursor int64 }
		if err := json.Unmarshal([]byte(own.exchange("GET "+path).body), &page); err != nil {
			t.Fatal(err)
		}
		own.ids.base[c] = page.Cursor
	}
	return &own
}

// exchange makes a request as the page would, but for what the text says otherwise.
func (s *toolStage) exchange(text string) toolAnswer {
	s.t.Helper()
	text = strings.ReplaceAll(text, "$AUTHORITY", strings.TrimPrefix(s.url, "http://"))
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, path, _ := strings.Cut(s.ids.realLine(lines[0]), " ")
	body = s.ids.real(strings.TrimSuffix(body, "\n"))
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Cookie", s.cookie)
	if method != http.MethodGet && method != http.MethodHead {
		request.Header.Set("Origin", s.url)
		request.Header.Set("X-Labfy-CSRF", s.csrf)
		request.Header.Set("Content-Type", "application/json")
		<-time.After(2 * time.Millisecond) // the pace of the common service
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); {
		case name == "Host":
			request.Host = value
		case value == "":
			request.Header.Del(name)
		default:
			request.Header.Set(name, value)
		}
	}
	if body == "" {
		request.Body = http.NoBody
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatalf("%s: %v", request.URL, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return toolAnswer{counterOf(path), response.StatusCode, response.Status, response.Header, string(raw)}
}

// until repeats a request until its answer holds a text.
func (s *toolStage) until(number, holds string) toolAnswer {
	s.t.Helper()
	for {
		got := s.exchange(s.requests[number])
		if strings.Contains(got.body, holds) {
			return got
		}
		if got.code != http.StatusOK || s.t.Context().Err() != nil {
			s.t.Fatalf("no answer holds %s, the last is %s", holds, got.body)
		}
	}
}

// toolAnswer is what came back.
type toolAnswer struct {
	counter counter
	code    int
	status  string
	header  http.Header
	body    string
}

// shown is an answer without what differs from run to run, and with a line for each element of a long list.
func (a toolAnswer) shown(ids *toolAliases) []byte {
	var text strings.Builder
	fmt.Fprintln(&text, a.status)
	for _, name := range []string{"Content-Type", "Retry-After", "Allow", "Location"} {
		if value := a.header.Get(name); value != "" {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	body := a.body
	for _, begin := range []string{`{"contract":`, `{"tool_id":`, `{"action_id":`, `{"object_id":`, `{"id":`} {
		body = strings.ReplaceAll(body, "},"+begin, "},\n"+begin)
		body = strings.ReplaceAll(body, ":["+begin, ":[\n"+begin)
	}
	fmt.Fprintf(&text, "\n%s\n", body)
	return []byte(ids.steady(text.String(), a.counter))
}

// provider is somebody outside who can be asked, and keeps what it was asked.
type provider struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard = append(p.heard, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
		fmt.Fprintln(w, "The registry knows three ships of that name.")
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) asked() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.heard) == 0 {
		return "nothing\n"
	}
	return strings.Join(p.heard, "\n") + "\n"
}

func (p *provider) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = nil
}

func save(t *testing.T, file string, archive *txtar.Archive) {
	t.Helper()
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
