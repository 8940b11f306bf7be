package blackbox

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
	"github.com/fastreact/fastreact/testdata/peers"
)

// archive is a provider of research on this machine that counts who comes to it.
type archive struct {
	*httptest.Server
	mu          sync.Mutex
	connections int
	requests    []*http.Request
	hold        chan struct{} // until it is closed nobody gets an answer; nil: at once
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	a := &archive{}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.requests = append(a.requests, r)
		hold := a.hold
		a.mu.Unlock()
		if hold != nil {
			<-hold
		}
		fmt.Fprint(w, "The archive knows of a crate.")
	}))
	a.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.connections++
		}
	}
	a.Start()
	t.Cleanup(a.Close)
	return a
}

// met says who came so far.
func (a *archive) met() (connections int, requests []*http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.connections, append([]*http.Request{}, a.requests...)
}

// watchNetwork records every connection that the service begins, from outside. end returns them.
func (s *service) watchNetwork() (end func() []string) {
	s.t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		peers.Missing(s.t, "strace")
	}
	log := filepath.Join(s.t.TempDir(), "trace")
	trace := exec.CommandContext(s.t.Context(), "strace", "-f", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", log, "-p", strconv.Itoa(s.command.Process.Pid))
	words, err := trace.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := trace.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(words)
	if !lines.Scan() || !strings.Contains(lines.Text(), "attached") {
		_ = trace.Wait()
		peers.Missing(s.t, "the right to trace a process: "+lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, words) }()
	return func() (begun []string) {
		s.t.Helper()
		_ = trace.Process.Signal(syscall.SIGINT)
		_ = trace.Wait()
		text, err := os.ReadFile(log)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, "sa_family") {
				begun = append(begun, line)
			}
		}
		return begun
	}
}

// TestNobodyIsContactedBeforeAPersonDecides lets the agent and a client do all they can, watched from outside: the
// service itself begins no connection at all. Then a person decides, and it begins one.
func TestNobodyIsContactedBeforeAPersonDecides(t *testing.T) {
	t.Parallel()
	provider := newArchive(t)
	s := startTools(t, map[string]specimen.Workspace{"harbour": specimen.Harbour()},
		fmt.Sprintf(`active: harbour, providers: [{id: archive, url: "%s/lookup"}]`, provider.URL), "")
	end := s.watchNetwork()
	plan := s.doAllButDecide(t)
	if connections, _ := provider.met(); connections != 0 {
		t.Errorf("the provider was contacted %d times before anybody decided", connections)
	}
	if begun := end(); len(begun) != 0 {
		t.Errorf("before anybody decided the service began:\n%s", strings.Join(begun, "\n"))
	}
	end = s.watchNetwork()
	granted := s.did(200, "/api/v1/research/grants", decision(plan, 3))
	if connections, _ := provider.met(); connections != 0 {
		t.Errorf("a grant alone contacted the provider %d times", connections)
	}
	wanted := launch(granted, 1)
	after := s.did(200, "/api/v1/research/campaigns", wanted)
	s.did(200, "/api/v1/research/campaigns", wanted)
	_, port, _ := net.SplitHostPort(provider.Listener.Addr().String())
	begun := end()
	if len(begun) != 1 || !strings.Contains(begun[0], "sin_port=htons("+port+")") || !strings.Contains(begun[0], `inet_addr("127.0.0.1")`) {
		t.Errorf("the campaign began, want one connection to port %s:\n%s", port, strings.Join(begun, "\n"))
	}
	checkContact(t, provider, after)
	t.Run("research keeps its rules", func(t *testing.T) {
		s.t = t
		researchRefuses(t, s, provider)
	})
	t.Run("a killed campaign contacts nobody again", func(t *testing.T) {
		s.t = t
		campaignIsKilled(t, s, provider)
	})
}

// doAllButDecide uses every tool and route that is no decision, and returns the plan that was prepared.
func (s *station) doAllButDecide(t *testing.T) map[string]any {
	t.Helper()
	order, good := inputs(t)
	for _, tool := range order {
		s.call(tool, good[tool])
	}
	turn := s.did(201, toolsPath+"/turns", map[string]any{"objective": "crate"})
	s.post(toolsPath+"/turns/"+turn["turn_id"].(string)+"/resume", "{}")
	for _, path := range []string{"/api/v1/agent-runtime/status", "/api/v1/session", "/", "/api/v1/research"} {
		if got := s.send("GET", path, ""); got.status != 200 {
			t.Errorf("GET %s: %d", path, got.status)
		}
	}
	running := s.did(202, "/api/v1/agent-runtime/turns", map[string]any{"objective": "crate"})
	s.awaitTurn(running["turn_id"].(string), "AUTHORIZATION_REQUIRED")
	s.post("/api/v1/agent-runtime/turns/"+running["turn_id"].(string)+"/resume", "{}")
	plan := s.did(200, "/api/v1/research/prepare", map[string]any{
		"selection_ids": good["research.prepare"]["selection_ids"], "question": "Who weighed it?", "exclusions": []any{}, "idempotency_key": uuid(),
	})
	checkUndecided(t, plan)
	for _, one := range plan["actions"].([]any) {
		action := one.(map[string]any)
		want := map[string]any{
			"action_id": action["action_id"], "capability_id": action["capability_id"], "provider_id": "archive",
			"subject": good["graph.get_node"]["object_id"], "contact": "PASSIVE_PUBLIC", "disclosure": "QUESTION_AND_SUBJECT",
			"max_requests": 1.0, "max_response_bytes": 4096.0, "max_active_ms": 5000.0, "contacted": false,
			"result_status": nil, "result_excerpt": nil, "result_digest": nil, "decision": "DEFER", "wave": action["wave"],
		}
		if diff := cmp.Diff(want, action); diff != "" {
			t.Errorf("action (-want +got):\n%s", diff)
		}
	}
	return plan
}

// awaitTurn waits until a turn of the runtime has a state, and returns it.
func (s *station) awaitTurn(id, state string) (turn map[string]any) {
	s.t.Helper()
	s.await(waitForTurns, func() (bool, string) {
		turn = s.see("/api/v1/agent-runtime/turns/" + id)
		return turn["state"] == state, fmt.Sprintf("the turn is never %s: %v", state, turn)
	})
	return turn
}

// checkContact wants one request that says what was disclosed, and the action that tells of it.
func checkContact(t *testing.T, provider *archive, plan map[string]any) {
	t.Helper()
	connections, requests := provider.met()
	if connections != 1 || len(requests) != 1 {
		t.Fatalf("%d connections and %d requests, want one", connections, len(requests))
	}
	action, asked := plan["actions"].([]any)[0].(map[string]any), requests[0]
	want := map[string][]string{
		"capability": {action["capability_id"].(string)}, "subject": {action["subject"].(string)},
		"question": {plan["question"].(string)}, "action_id": {action["action_id"].(string)},
	}
	if diff := cmp.Diff(want, map[string][]string(asked.URL.Query())); diff != "" || asked.Method != "GET" || asked.URL.Path != "/lookup" {
		t.Errorf("%s %s (-want +got):\n%s", asked.Method, asked.URL.Path, diff)
	}
	if asked.Header.Get("Cookie")+asked.Header.Get("Authorization")+asked.Header.Get("Referer") != "" {
		t.Errorf("the provider was told %v", asked.Header)
	}
	if action["contacted"] != true || action["result_status"] != "NEW" || action["result_excerpt"] != "The archive knows of a crate." || action["decision"] != "AUTHORIZE" {
		t.Errorf("the action: %v", action)
	}
}
