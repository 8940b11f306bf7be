package blackbox

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

const toolsPath = "/api/v1/agent-tools"

// waitForTurns is how long a turn may take on a busy machine.
const waitForTurns = 60 * time.Second

// station is a person's browser at the agent tools of a service: one session, whose mutations keep the distance that
// the protocol wants. It belongs to one goroutine.
type station struct {
	*service
	authority, cookie, csrf string
	interval                time.Duration // between two mutations
	last                    time.Time     // when the last one was answered
}

// replied is an answer of the agent tools.
type replied struct {
	status int
	raw    []byte
	header http.Header
}

// code is the code of a refusal.
func (r replied) code() string {
	var shown struct {
		Contract, Error, Message string
	}
	if json.Unmarshal(r.raw, &shown) != nil || shown.Contract != "labfy.workspace.error.v1" || shown.Message == "" {
		return ""
	}
	return shown.Error
}

// outcome is status and code of a refusal in one word.
func (r replied) outcome() string { return fmt.Sprintf("%d %s", r.status, r.code()) }

// sites writes workspaces into a folder and returns the configuration of agent_tools that names them.
func sites(t *testing.T, folder string, all map[string]specimen.Workspace) string {
	t.Helper()
	var named []string
	for id, content := range all {
		at := filepath.Join(folder, "site-"+id)
		if err := specimen.Write(at, content); err != nil {
			t.Fatal(err)
		}
		named = append(named, fmt.Sprintf("%s: %q", id, at))
	}
	return "workspaces: {" + strings.Join(named, ", ") + "}"
}

// startTools runs a service with agent tools, and opens a session. tools is more of the section agent_tools, more is
// more of the configuration. Mutations may follow each other at once, unless tools says otherwise.
func startTools(t *testing.T, all map[string]specimen.Workspace, tools, more string, env ...string) *station {
	t.Helper()
	folder := t.TempDir()
	interval := time.Millisecond
	if !strings.Contains(tools, "mutation_interval") {
		tools += ", mutation_interval: 1ms"
	} else {
		interval = 30 * time.Millisecond
	}
	if !strings.Contains(more, "plugins: {") {
		more += loadingNone(t)
	}
	text := fmt.Sprintf("server: {addr: \"127.0.0.1:0\", shutdown_grace: 2s}\nstore: {path: %q}\nworkspace: {root: %q}\n"+
		"agent_tools: {addr: \"127.0.0.1:0\", %s, %s}\n%s",
		filepath.Join(folder, "db", "f.db"), filepath.Join(folder, "ws"), sites(t, folder, all), tools, more)
	s := &service{
		t: t, folder: folder, env: append(env, identityEnv()...), token: serviceToken,
		config: filepath.Join(folder, "fastreact.yaml"),
	}
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	at := &station{service: s, interval: interval}
	at.enter()
	return at
}

var launchLine = regexp.MustCompile(`Agent tools: open (http://([^/]+)/\?launch=[0-9a-f]{64}) \(works once\)`)

// launch is the newest launch address that the service printed. The first one comes when the reader is loaded.
func (s *service) launch() (address, authority string) {
	s.t.Helper()
	var all [][]string
	s.await(waitForTurns, func() (bool, string) {
		all = launchLine.FindAllStringSubmatch(s.output.String(), -1)
		return len(all) > 0, "no launch address"
	})
	return all[len(all)-1][1], all[len(all)-1][2]
}

// awaitPlugins waits until the last of the built-in plugins is loaded.
func (s *service) awaitPlugins() {
	s.t.Helper()
	s.await(waitForTurns, func() (bool, string) {
		return strings.Contains(s.output.String(), "plugin=shell"), "the plugins are never loaded"
	})
}

// enter opens the newest launch address, as a person does in a browser, and reads the session.
func (s *station) enter() {
	s.t.Helper()
	var address string
	address, s.authority = s.launch()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(address)
	if err != nil {
		s.t.Fatal(err)
	}
	response.Body.Close()
	if used, err := client.Get(address); err != nil || used.StatusCode != http.StatusForbidden {
		s.t.Errorf("a stranger opens the launch address again: %v, %v", used, err)
	}
	if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != "/" {
		s.t.Fatalf("launch: %d to %q", response.StatusCode, response.Header.Get("Location"))
	}
	var attributes string
	s.cookie, attributes, _ = strings.Cut(response.Header.Get("Set-Cookie"), ";")
	if attributes != " HttpOnly; SameSite=Strict; Path=/; Max-Age=3600" {
		s.t.Errorf("the cookie has %q", attributes)
	}
	session := s.see("/api/v1/session")
	s.csrf, _ = session["csrf"].(string)
}

// send sends one request as the page would; headers go over the page's own, and an empty one is left out.
func (s *station) send(method, path, body string, headers ...string) replied {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequest(method, "http://"+s.authority+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	own := []string{"Cookie", s.cookie}
	if method != http.MethodGet {
		own = append(own, "Origin", "http://"+s.authority, "X-Labfy-CSRF", s.csrf, "Content-Type", "application/json")
	}
	own = append(own, headers...)
	for i := 0; i+1 < len(own); i += 2 {
		if request.Header.Set(own[i], own[i+1]); own[i+1] == "" {
			request.Header.Del(own[i])
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, s.output)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return replied{response.StatusCode, raw, response.Header}
}

// pause waits until the next mutation is far enough from the last.
func (s *station) pause() {
	if wait := time.Until(s.last.Add(s.interval)); wait > 0 {
		<-time.After(wait)
	}
}

// post sends a mutation, in its turn. A body that is no text is encoded.
func (s *station) post(path string, body any, headers ...string) replied {
	s.t.Helper()
	text, is := body.(string)
	if !is {
		text = string(mustJSON(s.t, body))
	}
	s.pause()
	defer func() { s.last = time.Now() }()
	return s.send(http.MethodPost, path, text, headers...)
}

// did is a mutation that must succeed with a status; it returns the document.
func (s *station) did(status int, path string, body any) map[string]any {
	s.t.Helper()
	got := s.post(path, body)
	if got.status != status {
		s.t.Fatalf("POST %s: %d %s, want %d\n%s", path, got.status, got.raw, status, s.output)
	}
	return s.object(got.raw)
}

// see reads a document that must be there.
func (s *station) see(path string) map[string]any {
	s.t.Helper()
	got := s.send(http.MethodGet, path, "")
	if got.status != http.StatusOK {
		s.t.Fatalf("GET %s: %d %s\n%s", path, got.status, got.raw, s.output)
	}
	return s.object(got.raw)
}

// happened returns the events after a cursor, and the newest sequence.
func (s *station) happened(cursor int) (events []map[string]any, newest int, gap bool) {
	s.t.Helper()
	page := s.see(fmt.Sprintf("%s/events?cursor=%d", toolsPath, cursor))
	for _, one := range page["events"].([]any) {
		events = append(events, one.(map[string]any))
	}
	gap, _ = page["gap"].(bool)
	return events, int(page["cursor"].(float64)), gap
}

// envelope is a whole call, each time with a key of its own.
func envelope(tool string, input any) map[string]any {
	return map[string]any{
		"turn_id": uuid(), "tool_id": tool, "input": input, "context": nil, "object_refs": []any{}, "idempotency_key": uuid(),
	}
}

// call makes a call that the gateway takes, and returns its reply and its result.
func (s *station) call(tool string, input any) (reply, result map[string]any) {
	s.t.Helper()
	reply = s.did(http.StatusCreated, toolsPath+"/calls", envelope(tool, input))
	return reply, s.see(toolsPath + "/results/" + reply["result_id"].(string))
}

// books are the audit records of the service, which hold every call that the gate has judged.
func (s *station) books() (records []map[string]any) {
	s.t.Helper()
	for after := 0.0; ; {
		path := fmt.Sprintf("/v1/audit/export?after=%d", int(after))
		_, raw := s.request("GET", path, nil, "Authorization", "Bearer "+adminToken)
		page := 0
		for decoder := json.NewDecoder(bytes.NewReader(raw)); decoder.More(); page++ {
			var record map[string]any
			if err := decoder.Decode(&record); err != nil {
				s.t.Fatalf("%v: %s", err, raw)
			}
			after = record["sequence"].(float64)
			records = append(records, record)
		}
		if page == 0 {
			return records
		}
	}
}

// footprint is what an execution would change, as far as it is seen from outside: records of the books, and events.
func (s *station) footprint() string {
	s.t.Helper()
	_, newest, _ := s.happened(0)
	runtime := s.see("/api/v1/agent-runtime/events?cursor=0")["cursor"]
	return fmt.Sprintf("%d records, event %d, runtime event %v, research %v", len(s.books()), newest, runtime,
		s.see("/api/v1/research")["plan_id"])
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

var (
	uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
)

// graphOf is the graph of a workspace, as its file tells it.
func graphOf(t *testing.T, w specimen.Workspace) (graph struct {
	Nodes []struct{ ID, Type, Label, State string }
	Edges []struct{ Source, Target, Kind string }
	Jobs  []struct {
		ID string `json:"job_id"`
	}
},
) {
	t.Helper()
	for _, raw := range [][]byte{w.Core, w.Jobs} {
		if err := json.Unmarshal(raw, &graph); err != nil {
			t.Fatal(err)
		}
	}
	return graph
}
