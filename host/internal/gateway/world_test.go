package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

const (
	node      = "evidence:5e6f1c1e-2d1f-4c5a-9f00-0000000000a1"
	neighbour = "entity:5e6f1c1e-2d1f-4c5a-9f00-0000000000a2"
	someTurn  = "11111111-1111-4111-8111-111111111111"
	planID    = "22222222-2222-4222-8222-222222222222"
	harbour   = "harbour"
	orchard   = "orchard"
)

// world is a gateway behind a real gate, whose tools a test scripts.
type world struct {
	t        *testing.T
	rules    map[string]any
	source   *scriptedSource
	books    *books
	research *people
	cfg      Config
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, rules: map[string]any{}, source: &scriptedSource{answers: answers()}, books: &books{}, research: &people{},
		cfg: Config{
			Workspaces: []string{harbour, orchard}, Active: harbour,
			Clock: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 890, time.UTC) },
		},
	}
}

// open builds the gateway; the test's end closes it.
func (w *world) open() *Gateway {
	w.t.Helper()
	rules, err := policy.Compile(policy.Config{ToolRules: w.rules})
	if err != nil {
		w.t.Fatal(err)
	}
	door, err := gate.New(gate.Config{Sources: []gate.Source{w.source}, Rules: rules, Recorder: w.books})
	if err != nil {
		w.t.Fatal(err)
	}
	w.cfg.Gate, w.cfg.Research = door, w.research
	g, err := New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	return g
}

// answers is what the tools say unless a test says otherwise.
func answers() map[string]string {
	ref := `"object_refs":[{"object_id":"` + node + `"}]`
	return map[string]string{
		"investigation.search":  `{"matches":[{"object_id":"` + node + `","label":"Log"}],` + ref + `}`,
		"graph.get_node":        `{"node":{"id":"` + node + `"},` + ref + `}`,
		"graph.get_neighbors":   `{"edges":[],"object_refs":[{"object_id":"` + neighbour + `"}]}`,
		"evidence.get_summary":  `{"summary":{},` + ref + `}`,
		"evidence.read_excerpt": `{"excerpt":"{}",` + ref + `}`,
		"provenance.trace":      `{"object_refs":[],"provenance_refs":[{"object_id":"` + neighbour + `"}]}`,
		"jobs.get":              `{"job":{},"object_refs":[]}`,
		"research.get_state":    `{"state":"PREPARED","actions":[{"contacted":true},{"contacted":false},{"contacted":false}]}`,
		"research.prepare":      `{"state":"PREPARED","plan_id":"` + planID + `"}`,
	}
}

// scriptedSource is all nine tools.
type scriptedSource struct {
	missing string // a tool that is not there
	invoke  func(ctx context.Context, call sdk.Call) (sdk.Result, error)

	mu      sync.Mutex
	answers map[string]string
	sent    []sdk.Call
}

func (s *scriptedSource) Tools(context.Context) []run.Tool {
	standing := []run.Tool{}
	for _, t := range tools() {
		if t.id != s.missing {
			standing = append(standing, run.Tool{
				Name: t.name(), RawName: t.id, Source: run.FromWasm, Digest: "digest of " + t.id,
				Schema: closedSchema(t.input), Profile: run.AgentTools,
			})
		}
	}
	return standing
}

func (s *scriptedSource) Invoke(ctx context.Context, _ run.Tool, call sdk.Call) (sdk.Result, error) {
	s.mu.Lock()
	s.sent = append(s.sent, call)
	text := s.answers[call.Tool]
	s.mu.Unlock()
	if s.invoke != nil {
		return s.invoke(ctx, call)
	}
	return sdk.Result{Content: text}, nil
}

func (s *scriptedSource) say(tool, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[tool] = text
}

func (s *scriptedSource) calls() []sdk.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]sdk.Call{}, s.sent...)
}

// books keeps audit records of calls without a run.
type books struct {
	err error

	mu      sync.Mutex
	records []run.Audit
}

func (b *books) Record(context.Context, run.Fence, run.Audit) error {
	return errors.New("a call of no run was recorded under a fence")
}

func (b *books) Note(_ context.Context, record run.Audit) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.records = append(b.records, record)
	}
	return b.err
}

// people decide about plans.
type people struct {
	released bool
	err      error
	asked    []string
}

func (p *people) Released(_ context.Context, workspace, plan string) (bool, error) {
	p.asked = append(p.asked, workspace+"/"+plan)
	return p.released, p.err
}

// request is a valid call of a tool with a key of its own.
func request(tool, input string) Request {
	return Request{TurnID: someTurn, ToolID: tool, Input: json.RawMessage(input), Key: run.NewUUID()}
}

func search() Request { return request("investigation.search", `{"query":"log"}`) }

func mustCall(t *testing.T, g *Gateway, r Request) Reply {
	t.Helper()
	reply, err := g.Call(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func mustResult(t *testing.T, g *Gateway, id string) Result {
	t.Helper()
	result, err := g.Result(id)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustStart(t *testing.T, g *Gateway, objective string) Turn {
	t.Helper()
	turn, err := g.Start(context.Background(), objective)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func wantCode(t *testing.T, err error, want run.Code) {
	t.Helper()
	if !run.IsCode(err, want) {
		t.Errorf("error = %v, want code %s", err, want)
	}
}

// story is what events tell: kind and payload, and before them the place of the call that they are of.
func story(events []Event) []string {
	calls, told := map[string]int{}, []string{}
	for _, e := range events {
		line := fmt.Sprintf("%s %s", e.Kind, e.Payload)
		if e.CallID != "" {
			if calls[e.CallID] == 0 {
				calls[e.CallID] = len(calls) + 1
			}
			line = fmt.Sprintf("%d: %s", calls[e.CallID], line)
		}
		told = append(told, line)
	}
	return told
}
