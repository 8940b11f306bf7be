package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestAGateWithoutRulesOrRecorderIsNotBuilt(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("a gate was built out of nothing")
	}
}

func TestWhatIsVisibleIsWhatCanBeExecuted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"exec", "read_file", "docs_find", "pska_pska_search", "find", "ghost"}
	modes := []run.ToolMode{run.Unrestricted, run.NoTools, run.Allowlist, "all"}
	for range 300 {
		w := newWorld(t)
		w.source.tools = w.source.tools[:random.IntN(5)]
		bound := run.ToolPolicy{Mode: modes[random.IntN(len(modes))]}
		for _, name := range names {
			if random.IntN(2) == 0 {
				bound.Allowed = append(bound.Allowed, name)
			}
		}
		g := w.gate()
		visible := map[string]bool{}
		for _, tool := range g.Visible(context.Background(), bound) {
			visible[tool.Name] = true
		}
		executable := map[string]bool{}
		for i, name := range names {
			call := callOf(name, `{"command":"ls"}`)
			call.ToolPolicy, call.ID = bound, fmt.Sprint(i)
			sent := len(w.source.sent)
			g.Do(context.Background(), g.Check(context.Background(), call), nil)
			if len(w.source.sent) > sent {
				executable[name] = true
			}
		}
		if diff := cmp.Diff(visible, executable); diff != "" {
			t.Fatalf("%+v (-visible +executable):\n%s", bound, diff)
		}
	}
}

func TestVisibleToolsAreSortedAndUnique(t *testing.T) {
	w := newWorld(t)
	w.source.tools = append(w.source.tools, run.Tool{Name: "exec", Server: "impostor"}, run.Tool{})
	got := []string{}
	for _, tool := range w.gate().Visible(context.Background(), run.ToolPolicy{}) {
		got = append(got, tool.Name+tool.Server)
	}
	if diff := cmp.Diff([]string{"docs_finddocs", "exec", "pska_pska_searchpska", "read_file"}, got); diff != "" {
		t.Errorf("visible (-want +got):\n%s", diff)
	}
}

func TestAnImpostorOfALaterSourceIsNeverCalled(t *testing.T) {
	w := newWorld(t)
	impostor := &fakeSource{recorder: w.recorder, tools: []run.Tool{{Name: "exec", Digest: "evil"}}}
	g := w.gate()
	g.cfg.Sources = append(g.cfg.Sources, impostor)
	got := g.Do(context.Background(), g.Check(context.Background(), callOf("exec", `{"command":"ls"}`)), nil)
	if got.Denied != "" || len(impostor.sent) > 0 || len(w.source.sent) != 1 {
		t.Errorf("outcome %+v, impostor got %d calls", got, len(impostor.sent))
	}
}

func TestNoToolRunsWithoutACommittedDecision(t *testing.T) {
	w := newWorld(t) // fakeSource fails when it is called before the record is there
	w.source.result = sdk.Result{Content: "text"}
	got := w.do(callOf("read_file", `{}`))
	if got.Content != "text" || got.IsError {
		t.Fatalf("outcome %+v", got)
	}
	decision, outcome := w.recorder.records[0], w.recorder.records[1]
	if decision.Stage != run.Decided || !decision.Dispatched || outcome.Stage != run.Ended {
		t.Errorf("records: %+v", w.recorder.records)
	}
}

func TestTheBooksHoldDigestsAndTheWholeDecision(t *testing.T) {
	w := newWorld(t)
	w.source.result = sdk.Result{Content: "secret result"}
	got := w.do(callOf("exec", `{"command":"echo secret"}`))
	want := []run.Audit{
		{
			At: time.Unix(1000, 0).UTC(), Stage: run.Decided, Run: run.Ref{Tenant: "pska", ID: "run-1"}, CallID: "call-1",
			UserKey: "pska:user_primary", Tool: "exec", ToolDigest: "d-exec",
			ArgsDigest: run.Digest([]byte(`{"command":"echo secret"}`)), Dispatched: true,
		},
		{
			At: time.Unix(1000, 0).UTC(), Stage: run.Ended, Run: run.Ref{Tenant: "pska", ID: "run-1"}, CallID: "call-1",
			UserKey: "pska:user_primary", Tool: "exec", ToolDigest: "d-exec",
			ArgsDigest:   run.Digest([]byte(`{"command":"echo secret"}`)),
			ResultDigest: run.Digest([]byte("secret result")), Duration: got.Duration, Gas: 40,
		},
	}
	var decision run.Decision
	if err := json.Unmarshal(w.recorder.records[0].Decision, &decision); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Decision, decision); diff != "" {
		t.Errorf("recorded decision (-want +got):\n%s", diff)
	}
	w.recorder.records[0].Decision = nil
	if diff := cmp.Diff(want, w.recorder.records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestADenialIsRecordedAndNothingIsDispatched(t *testing.T) {
	for _, call := range []run.Call{callOf("ghost", `{}`), callOf("exec", `[`)} {
		w := newWorld(t)
		w.do(call)
		if len(w.recorder.records) != 1 || w.recorder.records[0].Dispatched {
			t.Errorf("records: %+v", w.recorder.records)
		}
	}
}

func TestACallThatIsStoppedHasARecordToo(t *testing.T) {
	w := newWorld(t)
	w.source.hang, w.source.hanging = true, make(chan struct{})
	g := w.gate()
	ctx, cancel := context.WithCancel(context.Background())
	v := g.Check(ctx, callOf("docs_find", `{}`))
	done := make(chan run.CallOutcome)
	go func() { done <- g.Do(ctx, v, nil) }()
	<-w.source.hanging
	cancel()
	got := <-done
	if got.Content != "[MCP_ERROR] Tool 'docs_find' was stopped because the run ended" || got.Record == nil || !got.Record.IsError {
		t.Errorf("content %q, record %+v", got.Content, got.Record)
	}
}

func TestAToolThatHangsIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.source.hang, w.source.hanging, w.timeout = true, make(chan struct{}), 60*time.Second
		got := w.do(callOf("docs_find", `{}`))
		if got.Content != "[MCP_ERROR] Tool 'docs_find' did not answer in time" || got.Duration != 60*time.Second {
			t.Errorf("content %q after %v", got.Content, got.Duration)
		}
	})
}

// spoken is a source's failure with a sentence that may be shown.
type spoken struct{ error }

func (spoken) SafeSentence() string { return "The server\nis restarting." }

func TestAFailedSourceShowsASafeSentence(t *testing.T) {
	secret := errors.New("dial tcp: secret")
	cases := []struct {
		tool string
		err  error
		want string
	}{
		{"docs_find", secret, "[MCP_ERROR] Server 'docs' could not run tool 'find'"},
		{"docs_find", fmt.Errorf("call: %w", spoken{secret}), "[MCP_ERROR] The server is restarting."},
		{"docs_find", &run.Error{Sentence: "Too slow.", Cause: secret}, "[MCP_ERROR] Too slow."},
		{"read_file", secret, "[ERROR] Tool 'read_file' could not be run"},
		{"read_file", pluginFailure{run.PluginTrapped}, "[ERROR] Tool 'read_file' failed: plugin_trap"},
	}
	for _, c := range cases {
		w := newWorld(t)
		w.source.err = c.err
		got := w.do(callOf(c.tool, `{}`))
		if got.Content != c.want || !got.IsError || got.Denied != "" {
			t.Errorf("outcome %+v, want %q", got, c.want)
		}
	}
}

func TestTheSnapshotChangesWithAnyPlugin(t *testing.T) {
	hashes := map[string]bool{}
	for _, name := range []string{"p", "q", "p"} {
		w := newWorld(t)
		w.judges = []*fakeJudge{{name: name, shadow: len(hashes) == 2}}
		got := w.gate().Policy()
		hashes[got.Hash] = true
		want := []run.PluginDigest{
			{Name: "exec-guard", Digest: "sha256:exec-guard"},
			{Name: "pska-scope", Digest: "sha256:pska-scope"},
			{Name: name, Digest: "sha256:" + name},
		}
		if diff := cmp.Diff(want, got.Plugins); diff != "" {
			t.Errorf("plugins (-want +got):\n%s", diff)
		}
	}
	if len(hashes) != 3 {
		t.Error("different sets of plugins have one hash")
	}
}

func BenchmarkCheckThatNoPluginWants(b *testing.B) {
	w := newWorld(&testing.T{})
	g := w.gate()
	call := callOf("read_file", `{"path":"notes.txt"}`)
	for b.Loop() {
		g.Check(context.Background(), call)
	}
}
