package agenttools

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
)

const (
	someUUID  = "0b1c2d3e-4f50-4617-8829-3a4b5c6d7e8f"
	otherUUID = "9a8b7c6d-5e4f-4031-9213-141516171819"
)

// engine plays gateway, research and runtime, and counts what reached it.
type engine struct {
	calls  atomic.Int64
	heard  atomic.Pointer[[]any]
	fails  error         // what everything answers that can fail
	panics bool          // in the middle of a call
	hold   chan struct{} // a call waits for it; nil = it does not
	held   chan struct{} // is told of each call that waits
	idle   bool          // no workspace is active
}

func (e *engine) hear(what ...any) error {
	e.calls.Add(1)
	e.heard.Store(&what)
	if e.panics {
		panic("/home/somebody/secret.txt is not there")
	}
	if e.hold != nil {
		e.held <- struct{}{}
		<-e.hold
	}
	return e.fails
}

type fakeGateway struct{ *engine }

func (f fakeGateway) Catalog(context.Context) gateway.Catalog {
	_ = f.hear("catalog")
	return gateway.Catalog{Tools: []gateway.Descriptor{{
		ToolID: "graph.get_node", ToolVersion: "1", CapabilityID: "c", CapabilityVersion: "1", Title: "t", Description: "d",
		InputSchema: json.RawMessage(`{"type":"object"}`), OutputContract: "o", ActionClass: "READ_ONLY",
		NetworkContact: "NONE", AuthorizationRequirement: "NONE", RiskClass: "LOW", CostClass: "BOUNDED",
		Availability: "UNAVAILABLE", UnavailableReason: "why",
	}}}
}

func (f fakeGateway) Start(_ context.Context, objective string) (gateway.Turn, error) {
	err := f.hear("start", objective)
	return gateway.Turn{
		ID: someUUID, State: gateway.AuthorizationRequired, ResearchPlan: json.RawMessage(`{"state":"PREPARED"}`),
	}, err
}

func (f fakeGateway) Call(_ context.Context, request gateway.Request) (gateway.Reply, error) {
	err := f.hear("call", request)
	return gateway.Reply{
		TurnID: request.TurnID, CallID: someUUID, ResultID: otherUUID, ToolID: request.ToolID, State: gateway.Completed,
		Replayed: request.Key == otherUUID,
	}, err
}

func (f fakeGateway) Resume(_ context.Context, id string) (gateway.Turn, error) {
	return gateway.Turn{ID: id, State: gateway.Completed}, f.hear("resume", id)
}

func (f fakeGateway) Result(id string) (gateway.Result, error) {
	return gateway.Result{Encoded: json.RawMessage(`{"result_id":"` + id + `","text":"<b>&"}`)}, f.hear("result", id)
}

func (f fakeGateway) Events(cursor int64) gateway.Page {
	_ = f.hear("events", cursor)
	return gateway.Page{Cursor: 7, Gap: true, Events: []gateway.Event{{
		Sequence: 7, At: start, Kind: gateway.ToolRequested, TurnID: someUUID, ObjectRefs: []string{"a:" + someUUID},
		Payload: json.RawMessage(`{"tool_id":"graph.get_node"}`),
	}}}
}

func (f fakeGateway) Active() string {
	if f.idle {
		return ""
	}
	return "harbour"
}

func (f fakeGateway) Workspaces() []string     { return []string{"harbour", "observatory"} }
func (f fakeGateway) Activate(id string) error { return f.hear("activate", id) }

type fakeResearch struct{ *engine }

func (f fakeResearch) Snapshot(_ context.Context, workspace string) (research.Snapshot, error) {
	return research.Snapshot{State: research.Empty}, f.hear("snapshot", workspace)
}

func (f fakeResearch) Prepare(_ context.Context, workspace string, p research.Preparation) (research.Snapshot, error) {
	return research.Snapshot{State: research.Empty}, f.hear("prepare", workspace, p)
}

func (f fakeResearch) Grant(_ context.Context, workspace string, d research.Decision) (research.Snapshot, error) {
	return research.Snapshot{State: research.Empty}, f.hear("grant", workspace, d)
}

func (f fakeResearch) Campaign(_ context.Context, workspace string, l research.Launch) (research.Snapshot, error) {
	return research.Snapshot{State: research.Empty}, f.hear("campaign", workspace, l)
}

func (f fakeResearch) Revoke(_ context.Context, workspace, grantID string) (research.Snapshot, error) {
	return research.Snapshot{State: research.Empty}, f.hear("revoke", workspace, grantID)
}

type fakeRuntime struct{ *engine }

func (f fakeRuntime) Status(context.Context) localagent.Status {
	_ = f.hear("status")
	return localagent.Status{
		Mode: localagent.Demo, Configured: true, Available: true, Provider: "deterministic-demo", EndpointKind: "none",
	}
}

func (f fakeRuntime) Start(_ context.Context, objective, key string) (localagent.Turn, error) {
	return aTurn(someUUID, localagent.Queued), f.hear("runtime start", objective, key)
}

func (f fakeRuntime) Turn(id string) (localagent.Turn, error) {
	turn := aTurn(id, localagent.AuthorizationRequired)
	turn.Pending = &localagent.Pending{ToolID: "research.prepare", ResultID: otherUUID}
	return turn, f.hear("runtime turn", id)
}

func (f fakeRuntime) Resume(_ context.Context, id string) (localagent.Turn, error) {
	return aTurn(id, localagent.Running), f.hear("runtime resume", id)
}

func (f fakeRuntime) Cancel(id string) (localagent.Turn, error) {
	return aTurn(id, localagent.Cancelled), f.hear("runtime cancel", id)
}

func (f fakeRuntime) Events(cursor int64) localagent.Page {
	_ = f.hear("runtime events", cursor)
	return localagent.Page{Cursor: 3, Events: []localagent.Event{{
		Sequence: 3, At: start, Kind: localagent.KindQueued, TurnID: someUUID, Payload: json.RawMessage(`{}`),
	}}}
}

func aTurn(id string, state localagent.State) localagent.Turn {
	return localagent.Turn{ID: id, Objective: "look", State: state, ModelCalls: 1, ToolCalls: 2}
}

// start is when a bench's clock begins.
var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// hands are those of a clock that only a test moves.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) time() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) move(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

// bench is a face on a listener of its own, and the browser that opened it.
type bench struct {
	t         *testing.T
	face      *Face
	engine    *engine
	hands     *hands
	authority string
	launches  chan string // addresses that were announced
	cookie    string      // name=value
	csrf      string
}

func newBench(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := &bench{
		t: t, engine: &engine{held: make(chan struct{}, 100)}, hands: &hands{now: start}, launches: make(chan string, 100),
	}
	cfg := Config{
		Gateway: fakeGateway{b.engine}, Research: fakeResearch{b.engine}, Runtime: fakeRuntime{b.engine},
		Announce: func(url string) { b.launches <- url }, Clock: b.hands.time,
	}
	for _, edit := range change {
		edit(&cfg)
	}
	face, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.face, b.authority = face, listener.Addr().String()
	face.Open(b.authority)
	ended := make(chan error, 1)
	go func() { ended <- face.Serve(listener) }()
	t.Cleanup(func() {
		cut, stop := context.WithCancel(context.Background())
		stop()
		_ = face.Shutdown(cut)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

// opened is a bench whose browser followed the launch address.
func opened(t *testing.T, change ...func(*Config)) *bench {
	b := newBench(t, change...)
	b.open(<-b.launches)
	return b
}

// open follows a launch address and keeps what comes of it.
func (b *bench) open(launch string) answer {
	b.t.Helper()
	got := b.send("GET", launch, "", "Cookie", b.cookie)
	if got.status == http.StatusSeeOther {
		b.cookie, _, _ = strings.Cut(got.header.Get("Set-Cookie"), ";")
		b.csrf = b.session().CSRF
	}
	return got
}

func (b *bench) session() sessionDocument {
	b.t.Helper()
	var document sessionDocument
	if err := json.Unmarshal([]byte(b.get("/api/v1/session").body), &document); err != nil {
		b.t.Fatal(err)
	}
	return document
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// code is that of a refusal; empty where the answer is none.
func (a answer) code(t *testing.T) string {
	t.Helper()
	if !strings.Contains(a.body, errorContract) {
		return ""
	}
	var shown map[string]string
	if err := json.Unmarshal([]byte(a.body), &shown); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	if len(shown) != 3 || shown["message"] == "" {
		t.Errorf("a refusal is %s", a.body)
	}
	return shown["error"]
}

// get reads as the browser does.
func (b *bench) get(path string) answer {
	b.t.Helper()
	return b.send("GET", path, "", "Cookie", b.cookie)
}

// post changes something as the page does, when the pace allows it.
func (b *bench) post(path, body string, header ...string) answer {
	b.t.Helper()
	b.hands.move(30 * time.Millisecond)
	return b.send("POST", path, body, append(b.proof(), header...)...)
}

// proof is what a page's mutation carries.
func (b *bench) proof() []string {
	return []string{
		"Cookie", b.cookie, "Origin", "http://" + b.authority, csrfHeader, b.csrf, "Content-Type", "application/json",
	}
}

// send makes a request. Later headers replace earlier ones; an empty value leaves the header out.
func (b *bench) send(method, path, body string, header ...string) answer {
	b.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = "http://" + b.authority + path
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body == "" {
		request.Body = http.NoBody
	}
	for i := 0; i+1 < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			request.Host = header[i+1]
		case header[i+1] == "":
			request.Header.Del(header[i])
		default:
			request.Header.Set(header[i], header[i+1])
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(raw)}
}

// raw sends bytes on a connection of their own and returns everything that comes back.
func (b *bench) raw(parts ...string) string {
	b.t.Helper()
	connection, err := net.Dial("tcp", b.authority)
	if err != nil {
		b.t.Fatal(err)
	}
	defer connection.Close()
	for _, part := range parts {
		if _, err := io.WriteString(connection, part); err != nil {
			b.t.Fatal(err)
		}
	}
	_ = connection.(*net.TCPConn).CloseWrite()
	back, _ := io.ReadAll(connection) // a reset after the answer is no fault
	return string(back)
}
