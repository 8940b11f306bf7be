package localagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/run"
)

// object is an id in the workspace of these tests.
const object = "entity:11111111-1111-4111-8111-111111111111"

// model answers as it is told, line by line. A line may be a text or a func(ctx) (string, error).
type model struct {
	mu    sync.Mutex
	lines []any
	asked [][]localagent.Message
	most  int // bytes of one request; 0 means any
}

func (m *model) Complete(ctx context.Context, messages []localagent.Message) (string, error) {
	m.mu.Lock()
	size := 0
	for _, one := range messages {
		size += len(one.Content)
	}
	if m.most > 0 && size > m.most {
		m.mu.Unlock()
		return "", localagent.ErrTooLarge
	}
	m.asked = append(m.asked, messages)
	line := m.lines[0]
	if len(m.lines) > 1 {
		m.lines = m.lines[1:]
	}
	m.mu.Unlock()
	switch line := line.(type) {
	case string:
		return line, nil
	case error:
		return "", line
	}
	return line.(func(context.Context) (string, error))(ctx)
}

// last is what the model was told last.
func (m *model) last() []localagent.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

func (m *model) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// tool is what a tool of the fake gateway does.
type tool func(ctx context.Context, request gateway.Request) (gateway.State, string, error)

// gates is a gateway with tools of its own.
type gates struct {
	mu      sync.Mutex
	active  string
	tools   map[string]tool
	calls   []gateway.Request
	results map[string]gateway.Result
}

func (g *gates) Active() string { return g.active }

func (g *gates) Catalog(context.Context) gateway.Catalog {
	var catalog gateway.Catalog
	for _, id := range []string{
		"investigation.search", "graph.get_node", "graph.get_neighbors", "provenance.trace", "research.get_state",
		"research.prepare",
	} {
		d := gateway.Descriptor{
			ToolID: id, Description: "What " + id + " does.", InputSchema: json.RawMessage(`{"type":"object"}`),
			AuthorizationRequirement: "NONE",
		}
		if id == "research.prepare" {
			d.AuthorizationRequirement = "HUMAN_GRANT"
		}
		catalog.Tools = append(catalog.Tools, d)
	}
	return catalog
}

func (g *gates) Call(ctx context.Context, request gateway.Request) (gateway.Reply, error) {
	g.mu.Lock()
	g.calls = append(g.calls, request)
	number, does := len(g.calls), g.tools[request.ToolID]
	g.mu.Unlock()
	state, output, err := does(ctx, request)
	if err != nil {
		return gateway.Reply{}, err
	}
	id := fmt.Sprintf("result-%d", number)
	var prepared struct {
		PlanID string `json:"plan_id"`
	}
	_ = json.Unmarshal([]byte(output), &prepared)
	encoded := fmt.Sprintf(`{"tool_id":%q,"state":%q,"output":%s}`, request.ToolID, state, output)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.results[id] = gateway.Result{
		ID: id, ToolID: request.ToolID, State: state, Output: json.RawMessage(output), Encoded: json.RawMessage(encoded),
		PlanID: prepared.PlanID,
	}
	return gateway.Reply{TurnID: request.TurnID, ResultID: id, State: state}, nil
}

func (g *gates) Result(id string) (gateway.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.results[id], nil
}

// called lists the tools that were called.
func (g *gates) called() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	called := []string{}
	for _, one := range g.calls {
		called = append(called, one.ToolID)
	}
	return called
}

// answers is a tool that answers the same every time.
func answers(state gateway.State, output string) tool {
	return func(context.Context, gateway.Request) (gateway.State, string, error) { return state, output, nil }
}

func fails(code run.Code, sentence string) tool {
	return func(context.Context, gateway.Request) (gateway.State, string, error) {
		return "", "", &run.Error{Code: code, Sentence: sentence, Op: "call", Cause: errors.New("private cause")}
	}
}

// people knows which plans are released.
type people struct {
	mu       sync.Mutex
	released map[string]bool // workspace/plan
	trouble  error
	asked    []string
	hold     chan struct{} // nil: answers come at once
}

func (p *people) Released(_ context.Context, workspace, plan string) (bool, error) {
	if p.hold != nil {
		<-p.hold
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, workspace+"/"+plan)
	return p.released[workspace+"/"+plan], p.trouble
}

// world is a runtime and all it talks to.
type world struct {
	*localagent.Runtime
	model  *model
	gates  *gates
	people *people
}

// inWorld runs a test with a runtime whose model says these lines.
func inWorld(t *testing.T, cfg localagent.Config, lines []any, test func(t *testing.T, w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world{
			model: &model{lines: lines},
			gates: &gates{active: "north", results: map[string]gateway.Result{}, tools: map[string]tool{
				"investigation.search": answers(gateway.Completed, `{"matches":[{"object_id":"`+object+`"}]}`),
				"graph.get_node":       answers(gateway.Completed, `{"node":{}}`),
				"graph.get_neighbors":  answers(gateway.Completed, `{"edges":[]}`),
				"provenance.trace":     answers(gateway.Completed, `{"provenance_refs":[]}`),
				"research.get_state":   answers(gateway.Completed, `{"actions":[{"contacted":true},{"contacted":false}]}`),
				"research.prepare":     answers(gateway.AuthorizationRequired, `{"plan_id":"plan-1"}`),
			}},
			people: &people{released: map[string]bool{}},
		}
		cfg.Gateway, cfg.Research = w.gates, w.people
		if cfg.Mode == "" {
			cfg.Mode, cfg.Model = localagent.LocalModel, w.model
		}
		runtime, err := localagent.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		w.Runtime = runtime
		defer func() {
			if err := runtime.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		test(t, w)
	})
}

// start begins a turn and waits until nothing moves any more.
func (w world) start(t *testing.T, objective string) localagent.Turn {
	t.Helper()
	turn, err := w.Start(t.Context(), objective, "")
	if err != nil {
		t.Fatal(err)
	}
	return w.settled(t, turn.ID)
}

func (w world) settled(t *testing.T, id string) localagent.Turn {
	t.Helper()
	synctest.Wait()
	turn, err := w.Turn(id)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// kinds lists the kinds of a turn's events without their prefix.
func (w world) kinds(id string) string {
	var kinds []string
	for _, e := range w.Events(0).Events {
		if e.TurnID == id {
			kinds = append(kinds, strings.TrimPrefix(string(e.Kind), "agent.runtime."))
		}
	}
	return strings.Join(kinds, " ")
}

func call(tool, arguments string) string {
	return fmt.Sprintf(`{"contract":"labfy.agent_model_action.v1","kind":"tool_call","tool_id":%q,"arguments":%s}`, tool, arguments)
}

func final(text string) string {
	return fmt.Sprintf(`{"contract":"labfy.agent_model_action.v1","kind":"final","text":%q}`, text)
}

// wantCode fails unless err carries the code.
func wantCode(t *testing.T, err error, code run.Code) {
	t.Helper()
	if !run.IsCode(err, code) {
		t.Errorf("got %v, want %s", err, code)
	}
}
