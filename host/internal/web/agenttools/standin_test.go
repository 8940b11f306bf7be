package agenttools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web/agenttools"
)

// standIn is what stands behind the real face in the browser's test: a gateway, a desk and a runtime that do what the
// test tells them, over a port of its own.
type standIn struct {
	mu      sync.Mutex
	active  string
	tools   []gateway.Descriptor
	events  []gateway.Event
	gap     bool
	results map[string]json.RawMessage
	plan    research.Snapshot
	turns   map[string]gateway.State
	status  localagent.Status
	runs    map[string]localagent.Turn
	history []localagent.Event

	launch  string        // newest launch address
	later   time.Duration // how far the clock is ahead
	refusal []refusal     // that are answered before the face is asked
	seen    []seen
}

// refusal answers one request whose path ends in a text.
type refusal struct {
	Path   string
	Status int
	Code   string
	After  string // Retry-After
	Sent   string // sentence
}

// seen is a request that reached the service.
type seen struct {
	Method, Path, Body string
	At                 int64 // milliseconds
}

// newStandIn serves the page, and a port for the test itself.
func newStandIn(t *testing.T) (env []string) {
	s := &standIn{}
	s.reset()
	face, err := agenttools.New(agenttools.Config{
		Gateway: s, Research: desk{s}, Runtime: runtime{s}, Clock: s.now,
		Announce: func(url string) { s.change(func() { s.launch = url }) },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.watch(face))
	t.Cleanup(server.Close)
	face.Open(strings.TrimPrefix(server.URL, "http://"))
	control := httptest.NewServer(http.HandlerFunc(s.control))
	t.Cleanup(control.Close)
	return []string{"SERVICE=" + server.URL, "CONTROL=" + control.URL}
}

func (s *standIn) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *standIn) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instant()
}

func (s *standIn) instant() time.Time { return time.Now().Add(s.later).UTC() }

// watch notes every request, and answers those that the test wants refused.
func (s *standIn) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		if r.Method == http.MethodPost {
			body, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		answer := s.note(r, string(body))
		if answer == nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if answer.After != "" {
			w.Header().Set("Retry-After", answer.After)
		}
		w.WriteHeader(answer.Status)
		_ = json.NewEncoder(w).Encode(map[string]string{"contract": "labfy.workspace.error.v1", "error": answer.Code, "message": answer.Sent})
	})
}

func (s *standIn) note(r *http.Request, body string) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seen{r.Method, r.URL.Path, body, time.Now().UnixMilli()})
	for i, one := range s.refusal {
		if strings.HasSuffix(r.URL.Path, one.Path) {
			s.refusal = append(s.refusal[:i], s.refusal[i+1:]...)
			return &one
		}
	}
	return nil
}

// control does what the browser's test asks for, and answers with what was seen.
func (s *standIn) control(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := func(into any) {
		if err := json.NewDecoder(r.Body).Decode(into); err != nil {
			panic(err)
		}
	}
	switch r.URL.Path {
	case "/reset":
		s.reset()
	case "/tools":
		read(&s.tools)
	case "/event":
		var e gateway.Event
		read(&e)
		s.tell(e)
	case "/result":
		var one struct {
			ID      string
			Encoded json.RawMessage
		}
		read(&one)
		s.results[one.ID] = one.Encoded
	case "/plan":
		read(&s.plan)
	case "/status":
		read(&s.status)
	case "/gap":
		s.gap = true
	case "/later":
		s.later += 2 * time.Hour
	case "/refuse":
		var one refusal
		read(&one)
		s.refusal = append(s.refusal, one)
	case "/forget":
		s.seen = []seen{}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"launch": s.launch, "seen": s.seen, "tools": s.tools, "plan": s.plan})
}

const ship = "entity:11111111-1111-4111-8111-111111111111"

func (s *standIn) reset() {
	s.active, s.gap, s.events, s.history = "harbour", false, nil, nil
	s.results, s.turns, s.runs = map[string]json.RawMessage{}, map[string]gateway.State{}, map[string]localagent.Turn{}
	s.plan = research.Snapshot{State: research.Empty}
	s.status = localagent.Status{Mode: localagent.Demo, Configured: true, Available: true, Provider: "deterministic-demo", EndpointKind: "none"}
	s.refusal, s.tools = nil, []gateway.Descriptor{
		descriptor("investigation.search", "Search the investigation", `{"query":{"type":"string","minLength":1,"maxLength":512,"pattern":"\\S"}}`, `"query"`),
		descriptor("graph.get_node", "Read an object", `{"object_id":{"type":"string","pattern":"^[a-z]+:[0-9a-f-]{36}$"}}`, `"object_id"`),
		descriptor("research.prepare", "Prepare research", `{"selection_ids":{"type":"array","minItems":1,"maxItems":8,`+
			`"items":{"type":"string","pattern":"^[a-z]+:[0-9a-f-]{36}$"}},"question":{"type":"string","maxLength":512},`+
			`"exclusions":{"type":"array","maxItems":8,"items":{"type":"string"}}}`, `"selection_ids","question","exclusions"`),
		descriptor("jobs.get", "Read a job", `{"job_id":{"type":"string"}}`, `"job_id"`),
	}
	s.tools[2].ActionClass, s.tools[2].AuthorizationRequirement, s.tools[2].RiskClass = "PREPARE_AUTHORIZATION", "HUMAN_GRANT", "MODERATE"
	s.tools[3].Availability, s.tools[3].UnavailableReason = "UNAVAILABLE", "The workspace has no snapshot of its jobs."
}

func descriptor(id, title, properties, required string) gateway.Descriptor {
	return gateway.Descriptor{
		ToolID: id, ToolVersion: "1", CapabilityID: "labfy.capability." + id + ".v1", CapabilityVersion: "1", Title: title,
		Description: "What " + id + " does.", OutputContract: "labfy.agent_tool_result.v1", ActionClass: "READ_ONLY",
		InputSchema:    json.RawMessage(`{"type":"object","properties":` + properties + `,"required":[` + required + `],"additionalProperties":false}`),
		NetworkContact: "NONE", AuthorizationRequirement: "NONE", RiskClass: "LOW", CostClass: "BOUNDED", Availability: "AVAILABLE",
	}
}

// The gateway.

func (s *standIn) Catalog(context.Context) gateway.Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return gateway.Catalog{Tools: s.tools}
}

func (s *standIn) Active() string { s.mu.Lock(); defer s.mu.Unlock(); return s.active }

func (s *standIn) Workspaces() []string { return []string{"harbour", "observatory"} }

func (s *standIn) Activate(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.events, s.plan = id, nil, research.Snapshot{State: research.Empty}
	return nil
}

func (s *standIn) tell(e gateway.Event) {
	e.Sequence, e.At = int64(len(s.events)+1), s.instant()
	if e.Payload == nil {
		e.Payload = json.RawMessage(`{}`)
	}
	s.events = append(s.events, e)
}

// call tells of one call and keeps its result.
func (s *standIn) call(turn, tool string, state gateway.State, output any, refs ...string) gateway.Reply {
	reply := gateway.Reply{TurnID: turn, CallID: run.NewUUID(), ResultID: run.NewUUID(), ToolID: tool, State: state}
	encoded, _ := run.Encode(output)
	list := []map[string]string{}
	for _, ref := range refs {
		list = append(list, map[string]string{"object_id": ref})
	}
	s.results[reply.ResultID], _ = run.Encode(map[string]any{
		"contract": "labfy.agent_tool_result.v1", "result_id": reply.ResultID, "turn_id": turn, "call_id": reply.CallID,
		"tool_id": tool, "state": state, "output": encoded, "object_refs": list, "artifacts": []any{}, "observations": []any{},
		"provenance_refs": []any{}, "diagnostic": nil,
	})
	for _, kind := range []gateway.Kind{gateway.ToolRequested, gateway.ToolStarted} {
		s.tell(gateway.Event{Kind: kind, TurnID: turn, CallID: reply.CallID, Payload: payload("tool_id", tool)})
	}
	s.tell(gateway.Event{
		Kind: gateway.ToolCompleted, TurnID: turn, CallID: reply.CallID, ObjectRefs: refs,
		Payload: payload("tool_id", tool, "result_id", reply.ResultID, "state", string(state)),
	})
	return reply
}

func payload(pairs ...string) json.RawMessage {
	members := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i]] = pairs[i+1]
	}
	raw, _ := json.Marshal(members)
	return raw
}

func node() map[string]any {
	return map[string]any{"id": ship, "object_kind": "entity", "type": "vessel", "label": "MV Morning Star", "state": "CONFIRMED"}
}

func (s *standIn) Start(_ context.Context, objective string) (gateway.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := run.NewUUID()
	s.turns[turn] = gateway.AuthorizationRequired
	s.tell(gateway.Event{Kind: gateway.TurnStarted, TurnID: turn, Payload: payload("objective", objective)})
	steps := []string{"investigation.search", "graph.get_node", "graph.get_neighbors", "provenance.trace", "research.prepare"}
	plan, _ := json.Marshal(map[string]any{"steps": steps})
	s.tell(gateway.Event{Kind: gateway.PlanUpdated, TurnID: turn, Payload: plan})
	s.call(turn, steps[0], gateway.Completed, map[string]any{"matches": []any{map[string]string{"object_id": ship, "label": "MV Morning Star"}}, "revision": 7}, ship)
	s.call(turn, steps[1], gateway.Completed, map[string]any{"node": node()}, ship)
	s.call(turn, steps[2], gateway.Completed, map[string]any{"edges": []any{}}, ship)
	s.call(turn, steps[3], gateway.Completed, map[string]any{"provenance_refs": []any{}}, ship)
	s.plan = newPlan(objective)
	encoded, _ := research.Encode(s.plan)
	prepared := s.call(turn, steps[4], gateway.AuthorizationRequired, encoded, ship)
	s.tell(gateway.Event{
		Kind: gateway.AuthorizationAsk, TurnID: turn, CallID: prepared.CallID, ObjectRefs: []string{ship},
		Payload: payload("reason", "human_grant_required", "result_id", prepared.ResultID),
	})
	return gateway.Turn{ID: turn, State: gateway.AuthorizationRequired, ResearchPlan: encoded}, nil
}

func (s *standIn) Call(_ context.Context, r gateway.Request) (gateway.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.call(r.TurnID, r.ToolID, gateway.Completed, map[string]any{"node": node(), "asked": r.Input}, ship), nil
}

func (s *standIn) Resume(_ context.Context, turn string) (gateway.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[turn] != gateway.AuthorizationRequired {
		return gateway.Turn{}, &run.Error{Code: gateway.CodeTurnNotWaiting}
	}
	if len(s.plan.Campaigns) == 0 {
		return gateway.Turn{}, &run.Error{Code: gateway.CodeTurnNotGranted}
	}
	s.turns[turn] = gateway.Completed
	s.call(turn, "research.get_state", gateway.Completed, map[string]any{"state": "PREPARED"})
	s.tell(gateway.Event{Kind: gateway.TurnCompleted, TurnID: turn, Payload: payload("summary", "One object was read and one plan was carried out.")})
	return gateway.Turn{ID: turn, State: gateway.Completed}, nil
}

func (s *standIn) Result(id string) (gateway.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	encoded, known := s.results[id]
	if !known {
		return gateway.Result{}, &run.Error{Code: gateway.CodeResultUnknown}
	}
	return gateway.Result{ID: id, Encoded: encoded}, nil
}

func (s *standIn) Events(cursor int64) gateway.Page {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := gateway.Page{Cursor: int64(len(s.events)), Gap: s.gap}
	s.gap = false
	for _, e := range s.events {
		if e.Sequence > cursor {
			page.Events = append(page.Events, e)
		}
	}
	return page
}

// desk is the research of the stand-in.
type desk struct{ *standIn }

func newPlan(question string) research.Snapshot {
	plan := research.Snapshot{
		State: research.Prepared, PlanID: run.NewUUID(), Fingerprint: "sha256:3f9a", InputRevision: 7, CreatedAt: time.Now(), Question: question,
	}
	for wave, capability := range []string{"source.check", "counter.check", "archive.check"} {
		plan.Actions = append(plan.Actions, research.Action{
			ActionID: run.NewUUID(), CapabilityID: "labfy.capability." + capability + ".v1", ProviderID: "registry", Subject: ship,
			Contact: research.ContactPassive, Disclosure: research.DiscloseQuestions, MaxRequests: 1, MaxResponseBytes: 4096,
			MaxActive: 5 * time.Second, Decision: research.Defer, Wave: wave + 1,
		})
	}
	return plan
}

func (d desk) Snapshot(context.Context, string) (research.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.plan, nil
}

func (d desk) Prepare(_ context.Context, _ string, p research.Preparation) (research.Snapshot, error) {
	return newPlan(p.Question), nil
}

// changed returns the plan after a change of its actions, which are not shared with what was answered before.
func (d desk) changed(do func(a *research.Action)) research.Snapshot {
	d.plan.Actions = append([]research.Action{}, d.plan.Actions...)
	for i := range d.plan.Actions {
		do(&d.plan.Actions[i])
	}
	return d.plan
}

func (d desk) Grant(_ context.Context, _ string, asked research.Decision) (research.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(asked.SelectedActionIDs) > 0 {
		now := d.instant()
		d.plan.Grants = append([]research.Grant{{GrantID: run.NewUUID(), ActionIDs: asked.SelectedActionIDs, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}}, d.plan.Grants...)
	}
	return d.changed(func(a *research.Action) {
		for _, c := range asked.Decisions {
			if c.ActionID == a.ActionID {
				a.Decision = c.Choice
			}
		}
	}), nil
}

func (d desk) Campaign(_ context.Context, _ string, asked research.Launch) (research.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan.Campaigns = append([]research.Campaign{{CampaignID: run.NewUUID(), GrantID: asked.GrantID, ActionIDs: asked.ActionIDs, AdmittedAt: d.instant()}}, d.plan.Campaigns...)
	return d.changed(func(a *research.Action) {
		if strings.Contains(fmt.Sprint(asked.ActionIDs), a.ActionID) {
			a.Contacted, a.ResultStatus, a.ResultDigest = true, research.ResultNew, "sha256:77"
			a.ResultExcerpt = "The registry knows the ship. <img src=x onerror=\"document.title='owned'\">"
		}
	}), nil
}

func (d desk) Revoke(_ context.Context, _, grantID string) (research.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan.Grants = append([]research.Grant{}, d.plan.Grants...)
	for i, g := range d.plan.Grants {
		if now := d.instant(); g.GrantID == grantID {
			d.plan.Grants[i].RevokedAt = &now
		}
	}
	return d.plan, nil
}

// runtime is the model of the stand-in: it waits for a person at once.
type runtime struct{ *standIn }

func (r runtime) Status(context.Context) localagent.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

func (r runtime) move(turn localagent.Turn, kind localagent.Kind) (localagent.Turn, error) {
	r.runs[turn.ID] = turn
	r.history = append(r.history, localagent.Event{Sequence: int64(len(r.history) + 1), At: r.instant(), Kind: kind, TurnID: turn.ID, Payload: json.RawMessage(`{}`)})
	return turn, nil
}

func (r runtime) Start(_ context.Context, objective, _ string) (localagent.Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := localagent.Turn{ID: run.NewUUID(), Objective: objective, State: localagent.AuthorizationRequired, ModelCalls: 2, ToolCalls: 1}
	_, _ = r.move(turn, localagent.KindQueued)
	r.call(turn.ID, "research.prepare", gateway.AuthorizationRequired, map[string]any{"state": "PREPARED"})
	return r.move(turn, localagent.KindAuthorizationRequired)
}

func (r runtime) Turn(id string) (localagent.Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[id], nil
}

func (r runtime) Resume(_ context.Context, id string) (localagent.Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.plan.Campaigns) == 0 {
		return localagent.Turn{}, &run.Error{Code: localagent.CodeNotGranted}
	}
	turn := r.runs[id]
	turn.State, turn.Final = localagent.Completed, "The model's last word."
	return r.move(turn, localagent.KindCompleted)
}

func (r runtime) Cancel(id string) (localagent.Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := r.runs[id]
	turn.State = localagent.Cancelled
	return r.move(turn, localagent.KindCancelled)
}

func (r runtime) Events(cursor int64) localagent.Page {
	r.mu.Lock()
	defer r.mu.Unlock()
	page := localagent.Page{Cursor: int64(len(r.history))}
	for _, e := range r.history {
		if e.Sequence > cursor {
			page.Events = append(page.Events, e)
		}
	}
	return page
}
