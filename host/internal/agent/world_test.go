package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/ledger/sqlite"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

const (
	owner = "this-incarnation"
	lease = time.Minute
)

// world is an agent with a real gate and a real ledger, a scripted model and scripted tools.
type world struct {
	*sqlite.Ledger
	agent *agent.Agent
	model *model.Scripted
	tools *tools
	ref   run.Ref
	ahead *atomic.Int64 // nanoseconds by which the ledger's clock runs before ours

	client     model.Client             // in place of model when set
	committing func(ledger.Batch)       // called before each batch of the agent when set
	failing    func(ledger.Batch) error // likewise; its error stands for a commit that failed
	unread     error                    // of the next look at the run's events
	unrecorded error                    // of the next decision that is to be recorded
	unparked   bool                     // runs stay with who parks them
}

func (w *world) Append(ctx context.Context, fence run.Fence, batch ledger.Batch) ([]run.Event, error) {
	if w.committing != nil {
		w.committing(batch)
	}
	if w.failing != nil {
		if err := w.failing(batch); err != nil {
			return nil, err
		}
	}
	batch.Park = batch.Park && !w.unparked
	return w.Ledger.Append(ctx, fence, batch)
}

func (w *world) Events(ctx context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error) {
	if err := w.unread; err != nil {
		w.unread = nil
		return nil, err
	}
	return w.Ledger.Events(ctx, ref, after, limit)
}

// setting changes what a world is made of before it is made.
type setting struct {
	rules   map[string]any
	agent   agent.Config
	request run.Request
	tools   *tools

	speaking func(model.Client) model.Client // puts the scripted model into another
	failing  func(ledger.Batch) error        // see world
}

func newWorld(t *testing.T, turns []model.Turn, changes ...func(*setting)) *world {
	t.Helper()
	s := setting{tools: newTools(), request: run.Request{
		ID: "run-1", SessionID: "session-1", Kind: run.Chat,
		Messages: []run.Message{{Role: run.System, Content: "Cite."}, {Role: run.User, Content: "What is alpha?"}},
		Identity: sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska"},
	}}
	for _, change := range changes {
		change(&s)
	}
	ahead := &atomic.Int64{}
	store, err := sqlite.Open(t.Context(), sqlite.Config{
		Path:  filepath.Join(t.TempDir(), "ledger.db"),
		Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &world{Ledger: store, ahead: ahead, model: model.NewScripted(turns), tools: s.tools, failing: s.failing}
	w.ref = run.Ref{Tenant: run.TenantKey(s.request.Identity.TenantKey), ID: s.request.ID}
	w.employ(t, s)
	now := time.Now().UTC()
	r := run.Run{
		Ref: w.ref, SessionID: s.request.SessionID, Kind: run.Chat, Status: run.Running, Request: s.request,
		CreatedAt: now, StartedAt: &now, Owner: owner, Epoch: 1, Attempts: 1,
	}
	if _, err := store.Create(t.Context(), r, ledger.Door{Lease: lease}); err != nil {
		t.Fatal(err)
	}
	return w
}

// employ makes a new agent behind a new gate, as a restart would.
func (w *world) employ(t *testing.T, s setting) {
	t.Helper()
	rules, err := policy.Compile(policy.Config{ToolRules: s.rules})
	if err != nil {
		t.Fatal(err)
	}
	door, err := gate.New(gate.Config{
		Sources: []gate.Source{w.tools}, Rules: rules, Scoper: pinned{}, Recorder: recorder{w.Ledger, &w.unrecorded},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.agent.Model = w.model
	if s.speaking != nil {
		s.agent.Model = s.speaking(w.model)
	}
	s.agent.Gate, s.agent.Ledger, s.agent.Desk = door, w, desk{w.Ledger}
	if w.client != nil {
		s.agent.Model = w.client
	}
	w.agent = agent.New(s.agent)
}

func (w *world) run(t *testing.T) run.Run {
	t.Helper()
	r, err := w.Run(t.Context(), w.ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) drive(t *testing.T) agent.Outcome {
	t.Helper()
	outcome, err := w.agent.Drive(t.Context(), w.run(t))
	if err != nil {
		t.Fatalf("drive: %v", err)
	}
	return outcome
}

func (w *world) events(t *testing.T) []run.Event {
	t.Helper()
	events, err := w.Events(t.Context(), w.ref, -1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// answer settles every pending approval and takes the run again.
func (w *world) answer(t *testing.T, status run.ApprovalStatus) {
	t.Helper()
	if status == run.Expired {
		w.ahead.Add(int64(patience))
	}
	w.settle(t, run.Resolution{Status: status, By: "operator", Reason: "because"})
	w.claim(t)
}

// settle gives every pending approval one answer.
func (w *world) settle(t *testing.T, answer run.Resolution) {
	t.Helper()
	for _, approval := range w.approvals(t) {
		answer.ID = approval.ID
		if _, _, err := w.Resolve(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
	}
}

// claim takes the run, as the next incarnation does when the lease of the last one is over.
func (w *world) claim(t *testing.T) {
	t.Helper()
	w.ahead.Add(int64(lease) + int64(time.Second))
	if _, err := w.Claim(t.Context(), ledger.Claimant{Owner: "next-incarnation", Kind: run.Chat, Lease: lease}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) approvals(t *testing.T) []run.Approval {
	t.Helper()
	page, err := w.Approvals(t.Context(), run.ApprovalFilter{Run: &w.ref, Oldest: true, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// lines are events as short text: kind, tool, call id, content.
func lines(events []run.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s | %s", e.Kind, e.ToolName, e.ToolCallID, e.Content)))
	}
	return out
}

func only(events []run.Event, kind run.EventKind) []run.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e run.Event) bool { return e.Kind != kind })
}

func metadata(t *testing.T, e run.Event) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(e.Metadata, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func wish(id, name, arguments string) run.ToolCall {
	return run.ToolCall{ID: id, Name: name, Arguments: arguments}
}

// says is a tool that returns text.
func says(text string) func(context.Context, sdk.Call) (sdk.Result, error) {
	return func(context.Context, sdk.Call) (sdk.Result, error) { return sdk.Result{Content: text}, nil }
}

// untilTheEnd waits for the end of a context.
func untilTheEnd(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// tools is a source of tools that answer from functions.
type tools struct {
	mu      sync.Mutex
	answers map[string]func(context.Context, sdk.Call) (sdk.Result, error)
	scoped  map[string]bool
	safe    map[string]bool   // tools that may be run again
	digest  map[string]string // of tools that changed
	kept    map[string]string // tools that are reserved for a profile
	calls   []sdk.Call
}

func newTools() *tools {
	echo := func(_ context.Context, call sdk.Call) (sdk.Result, error) {
		return sdk.Result{Content: call.Tool + " says " + string(call.Args)}, nil
	}
	return &tools{
		answers: map[string]func(context.Context, sdk.Call) (sdk.Result, error){"look": echo, "write": echo, "find": echo},
		scoped:  map[string]bool{"find": true},
	}
}

func (s *tools) Tools(context.Context) []run.Tool {
	var list []run.Tool
	for name := range s.answers {
		list = append(list, run.Tool{
			Name: name, RawName: name, Source: run.FromNative, Digest: cmp.Or(s.digest[name], "sha256:"+name), Idempotent: s.safe[name], Scoped: s.scoped[name], Profile: s.kept[name],
			Schema: json.RawMessage(`{"type":"object"}`),
		})
	}
	return list
}

func (s *tools) Invoke(ctx context.Context, tool run.Tool, call sdk.Call) (sdk.Result, error) {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	return s.answers[tool.Name](ctx, call)
}

func (s *tools) ran() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, call := range s.calls {
		names = append(names, call.CallID)
	}
	return names
}

// pinned is a scope plugin that changes nothing: the host's clamp has the last word.
type pinned struct{}

func (pinned) Name() string   { return "pinned" }
func (pinned) Digest() string { return "sha256:pinned" }

func (pinned) Inject(_ context.Context, request sdk.InjectRequest) (sdk.Injection, error) {
	return sdk.Injection{Args: request.Args, Applied: true}, nil
}

func (pinned) Filter(_ context.Context, request sdk.FilterRequest) (sdk.Filtering, error) {
	return sdk.Filtering{Result: request.Result}, nil
}

// recorder commits audit records under the run's fence.
type recorder struct {
	log     ledger.Ledger
	failure *error // of the next record; may be nil
}

func (r recorder) Record(ctx context.Context, fence run.Fence, record run.Audit) error {
	if r.failure != nil && *r.failure != nil {
		err := *r.failure
		*r.failure = nil
		return err
	}
	_, err := r.log.Append(ctx, fence, ledger.Batch{Audits: []run.Audit{record}})
	return err
}

func (r recorder) Note(ctx context.Context, record run.Audit) error { return r.log.Note(ctx, record) }

// patience is how long approvals wait.
const patience = 300 * time.Second

// desk opens approvals by the ledger's clock.
type desk struct{ clock *sqlite.Ledger }

func (d desk) Open(ctx context.Context, kind run.ApprovalKind, asked run.Asked) (run.Approval, error) {
	now, err := d.clock.Now(ctx)
	if err != nil {
		return run.Approval{}, err
	}
	call := asked.Call
	return run.Approval{
		ID: run.NewID("approval-"), Kind: kind, Run: call.Fence.Ref, SessionID: call.SessionID, UserKey: call.Identity.UserKey,
		ToolCallID: call.ID, ToolName: asked.Tool.Name, Args: asked.Args, ArgsDigest: run.Digest(asked.Args),
		ToolDigest: asked.Tool.Digest, Reason: cmp.Or(asked.Reason, asked.Decision.Reason), Decision: asked.Decision,
		Status: run.Pending, Timeout: patience, CreatedAt: now, ExpiresAt: now.Add(patience),
	}, nil
}
