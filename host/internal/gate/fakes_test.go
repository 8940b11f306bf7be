package gate

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// world is a gate with everything around it. A test changes what it is about before it calls gate.
type world struct {
	t        *testing.T
	rules    policy.Config
	source   *fakeSource
	recorder *fakeRecorder
	guard    *fakeJudge
	scoper   *fakeScoper
	judges   []*fakeJudge
	timeout  time.Duration
}

func newWorld(t *testing.T) *world {
	recorder := &fakeRecorder{}
	return &world{
		t:        t,
		recorder: recorder,
		source: &fakeSource{recorder: recorder, tools: []run.Tool{
			{Name: "exec", RawName: "exec", Source: run.FromWasm, Digest: "d-exec", Schema: json.RawMessage(`{"properties":{"command":{"type":"string"}},"required":["command"]}`)},
			{Name: "read_file", RawName: "read_file", Source: run.FromWasm, Digest: "d-read"},
			{Name: "docs_find", RawName: "find", Server: "docs", Source: run.FromMCP, Digest: "d-find"},
			{Name: "pska_pska_search", RawName: "pska_search", Server: "pska", Source: run.FromMCP, Scoped: true, Digest: "d-search"},
		}},
		guard:  &fakeJudge{name: "exec-guard", wants: []string{"exec"}, opinion: sdk.Opinion{Action: sdk.Allow, Reason: "harmless"}},
		scoper: &fakeScoper{},
	}
}

func (w *world) gate() *Gate {
	w.t.Helper()
	rules, err := policy.Compile(w.rules)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := Config{
		Sources: []Source{w.source}, Rules: rules, Recorder: w.recorder, ToolTimeout: w.timeout,
		Clock: func() time.Time { return time.Unix(1000, 0) },
	}
	if w.guard != nil {
		cfg.ExecGuard = w.guard
	}
	if w.scoper != nil {
		cfg.Scoper = w.scoper
	}
	for _, judge := range w.judges {
		cfg.Judges = append(cfg.Judges, judge)
	}
	g, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

func callOf(tool, args string) run.Call {
	return run.Call{
		Fence:     run.Fence{Ref: run.Ref{Tenant: "pska", ID: "run-1"}, Owner: "me", Epoch: 1},
		SessionID: "session-1",
		Identity:  sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska", UserID: "user_primary"},
		ID:        "call-1", Tool: tool, Args: json.RawMessage(args),
	}
}

func scopedCall(args string, mode sdk.ScopeMode) run.Call {
	call := callOf("pska_pska_search", args)
	call.ToolPolicy.Scope = &sdk.Scope{Mode: mode, KnowledgeBaseIDs: []string{"alpha"}, SourceItemIDs: []string{"a1", "a2"}}
	return call
}

// do checks and does in one step, with no approval.
// do passes a call and keeps its record with its result, as whoever keeps a run does.
func (w *world) do(call run.Call) run.CallOutcome {
	g := w.gate()
	outcome := g.Do(context.Background(), g.Check(context.Background(), call), nil)
	if outcome.Record != nil {
		w.recorder.records = append(w.recorder.records, *outcome.Record)
	}
	return outcome
}

// approvalOf is what a person approved for a verdict.
func approvalOf(v Verdict) *run.Approval {
	return &run.Approval{
		ID: "approval-1", Run: v.Call().Fence.Ref, ToolCallID: v.Call().ID, ToolName: v.Tool().Name, Args: v.Args(),
		ArgsDigest: v.ArgsDigest(), ToolDigest: v.Tool().Digest, Status: run.Approved,
	}
}

// fakeSource runs tools and remembers what it was sent.
type fakeSource struct {
	recorder *fakeRecorder
	result   sdk.Result
	progress sdk.Progress
	err      error
	before   func()        // called before it returns when set
	hang     bool          // until the context ends
	hanging  chan struct{} // closed when it does

	mu    sync.Mutex
	tools []run.Tool
	sent  []sdk.Call
}

func (s *fakeSource) Tools(context.Context) []run.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]run.Tool{}, s.tools...)
}

func (s *fakeSource) Invoke(ctx context.Context, _ run.Tool, call sdk.Call) (sdk.Result, error) {
	run.ReportGas(ctx, run.GasUse{Gas: 40})
	s.mu.Lock()
	s.sent = append(s.sent, call)
	s.mu.Unlock()
	if !s.recorder.dispatched(call.CallID) {
		return sdk.Result{}, errors.New("called without a committed decision")
	}
	if s.hang {
		close(s.hanging)
		<-ctx.Done()
		return sdk.Result{}, ctx.Err()
	}
	sdk.ReportProgress(ctx, s.progress)
	if s.before != nil {
		s.before()
	}
	return s.result, s.err
}

func (s *fakeSource) setTools(tools ...run.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// fakeRecorder is a ledger's books.
type fakeRecorder struct {
	err error

	mu      sync.Mutex
	records []run.Audit
	fences  []run.Fence // that were asked, by record; a note asks none
}

func (r *fakeRecorder) Record(ctx context.Context, fence run.Fence, record run.Audit) error {
	r.mu.Lock()
	r.fences = append(r.fences, fence)
	r.mu.Unlock()
	return r.Note(ctx, record)
}

func (r *fakeRecorder) Note(ctx context.Context, record run.Audit) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.err != nil {
		return r.err
	}
	r.records = append(r.records, record)
	return nil
}

func (r *fakeRecorder) dispatched(callID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.records {
		if record.Stage == run.Decided && record.Dispatched && record.CallID == callID {
			return true
		}
	}
	return false
}

// fakeJudge always says the same.
type fakeJudge struct {
	name    string
	wants   []string
	shadow  bool
	opinion sdk.Opinion
	err     error
	asked   []sdk.Question
	gas     int64
}

func (j *fakeJudge) Name() string   { return j.name }
func (j *fakeJudge) Digest() string { return "sha256:" + j.name }
func (j *fakeJudge) Shadow() bool   { return j.shadow }

func (j *fakeJudge) Wants(registered, raw string) bool {
	for _, name := range j.wants {
		if name == registered || name == raw || name == "*" {
			return true
		}
	}
	return false
}

func (j *fakeJudge) Evaluate(ctx context.Context, q sdk.Question) (sdk.Opinion, error) {
	run.ReportGas(ctx, run.GasUse{Gas: j.gas})
	j.asked = append(j.asked, q)
	return j.opinion, j.err
}

// fakeScoper returns arguments and results as they are, unless told otherwise.
type fakeScoper struct {
	inject    func(sdk.InjectRequest) (sdk.Injection, error)
	filtering *sdk.Filtering
	filterErr error
}

func (s *fakeScoper) Name() string   { return "pska-scope" }
func (s *fakeScoper) Digest() string { return "sha256:pska-scope" }

func (s *fakeScoper) Inject(ctx context.Context, r sdk.InjectRequest) (sdk.Injection, error) {
	run.ReportGas(ctx, run.GasUse{Gas: 5})
	if s.inject != nil {
		return s.inject(r)
	}
	return sdk.Injection{Args: r.Args}, nil
}

func (s *fakeScoper) Filter(ctx context.Context, r sdk.FilterRequest) (sdk.Filtering, error) {
	run.ReportGas(ctx, run.GasUse{Gas: 3})
	if ctx.Err() != nil {
		return sdk.Filtering{}, context.Cause(ctx)
	}
	if s.filtering != nil || s.filterErr != nil {
		if s.filtering == nil {
			return sdk.Filtering{}, s.filterErr
		}
		return *s.filtering, nil
	}
	return sdk.Filtering{Result: r.Result}, nil
}

// pluginFailure fails as the plugin host does.
type pluginFailure struct{ code run.DenialCode }

func (f pluginFailure) Error() string              { return "plugin failed with a secret" }
func (f pluginFailure) DenialCode() run.DenialCode { return f.code }

func mustNotRun(t *testing.T, w *world) {
	t.Helper()
	if len(w.source.sent) > 0 {
		t.Errorf("the tool ran: %+v", w.source.sent)
	}
}

func wantDenied(t *testing.T, w *world, got run.CallOutcome, code run.DenialCode, text string) {
	t.Helper()
	mustNotRun(t, w)
	if got.Denied != code || got.Content != text || !got.IsError {
		t.Errorf("outcome: denied %q, error %v, content %q\nwant: %q, %q", got.Denied, got.IsError, got.Content, code, text)
	}
	if got.Decision.Code != code {
		t.Errorf("decision code = %q, want %q", got.Decision.Code, code)
	}
}
