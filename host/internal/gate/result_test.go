package gate

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestACallOutsideItsScopeIsAnsweredHere(t *testing.T) {
	w := newWorld(t)
	w.rules.DefaultAction = "require_approval"
	got := w.do(scopedCall(`{"source_item_ids":["b1"]}`, sdk.Hard))
	mustNotRun(t, w)
	want := `{"citations":[],"results":[],"scope":{"mode":"hard","knowledge_base_ids":["alpha"],"source_item_ids":["a1","a2"]},"type":"tool_scope_empty"}`
	if got.Content != want || got.IsError || got.Denied != "" || !got.Decision.Scope.Empty {
		t.Errorf("outcome %+v", got)
	}
	if len(w.recorder.records) != 1 || w.recorder.records[0].Dispatched {
		t.Errorf("records: %+v", w.recorder.records)
	}
}

func TestAScopePluginMaySayThatNothingIsInside(t *testing.T) {
	w := newWorld(t)
	w.scoper.inject = func(r sdk.InjectRequest) (sdk.Injection, error) {
		return sdk.Injection{Args: r.Args, Empty: true}, nil
	}
	got := w.do(scopedCall(`{}`, sdk.Soft))
	mustNotRun(t, w)
	if !got.Decision.Scope.Empty {
		t.Errorf("outcome %+v", got)
	}
}

func TestTheToolIsToldItsOwnNameAndTheScope(t *testing.T) {
	w := newWorld(t)
	call := scopedCall(`{"query":"q"}`, sdk.Soft)
	w.do(call)
	want := sdk.Call{
		Tool: "pska_search", Identity: call.Identity, Scope: call.ToolPolicy.Scope, RunID: "run-1", CallID: "call-1",
		Args: json.RawMessage(`{"knowledge_base_ids":["alpha"],"query":"q","scope_mode":"soft","source_item_ids":["a1","a2"]}`),
	}
	if diff := cmp.Diff(want, w.source.sent[0]); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
}

func TestAScopeDoesNotReachToolsThatTakeNone(t *testing.T) {
	w := newWorld(t)
	call := callOf("docs_find", `{"source_item_ids":["b1"]}`)
	call.ToolPolicy.Scope = &sdk.Scope{Mode: sdk.Hard, SourceItemIDs: []string{"a1"}}
	w.source.result = sdk.Result{Content: "plain"}
	got := w.do(call)
	if got.Content != "plain" || string(w.source.sent[0].Args) != `{"source_item_ids":["b1"]}` || w.source.sent[0].Scope != nil {
		t.Errorf("outcome %+v, sent %+v", got, w.source.sent)
	}
}

func TestIdentityNeverComesFromTheModel(t *testing.T) {
	w := newWorld(t)
	w.do(callOf("docs_find", `{"user_id":"root","TENANT_ID":"other"}`))
	if got := string(w.source.sent[0].Args); got != `{"user_id":"user_primary"}` {
		t.Errorf("args = %s", got)
	}
}

func TestAResultIsReadAsItCame(t *testing.T) {
	cases := map[string]struct {
		result  sdk.Result
		content string
		cited   []string
		isError bool
	}{
		"text": {sdk.Result{Content: " as it is\n"}, " as it is\n", []string{}, false},
		"structured where there is no text": {
			sdk.Result{Structured: json.RawMessage(`{ "a": 1.0 }`)}, `{ "a": 1.0 }`, []string{}, false,
		},
		"text before structured": {
			sdk.Result{Content: "t", Structured: json.RawMessage(`{}`)}, "t", []string{}, false,
		},
		"a tool's own failure": {sdk.Result{Content: "no such file", IsError: true}, "no such file", []string{}, true},
		"citations of the tool": {
			sdk.Result{Content: `{"citations":[{"source_id":"x"}]}`, Citations: []string{"y"}},
			`{"citations":[{"source_id":"x"}]}`,
			[]string{"y"},
			false,
		},
		"citations in the text, unique and in order": {
			sdk.Result{Content: `{"results":[{"citation":{"source_item_id":"c"}},{"citation":{"source_id":"a"}},{"citation":7},8],` +
				`"citations":[{"source_item_id":"b","source_id":"x"},{"source_id":"a"},{"source_id":"b"},{"source_id":9},"z"]}`},
			"",
			[]string{"b", "a", "c"},
			false,
		},
		"text that is nearly JSON cites nothing": {sdk.Result{Content: `{"citations":`}, `{"citations":`, []string{}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.source.result = c.result
			got := w.do(callOf("docs_find", `{}`))
			if c.content == "" {
				c.content = c.result.Content
			}
			if got.Content != c.content || got.IsError != c.isError {
				t.Errorf("content = %q, error = %v", got.Content, got.IsError)
			}
			if diff := cmp.Diff(c.cited, got.Citations); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHardScopeFiltersResults(t *testing.T) {
	const mixed = `{"results":[{"source_item_id":"a1"},{"source_item_id":"b1"}],"citations":[{"source_id":"b1"},{"source_id":"a1"}]}`
	const clean = `{ "results" : [ {"source_item_id":"a1"} ] }`
	const sieved = `{"citations":[{"source_id":"a1"}],"diagnostics":{"tool_policy_scope_result_filter":{"removed":2}},"results":[{"source_item_id":"a1"}]}`
	cases := map[string]struct {
		mode      sdk.ScopeMode
		result    string
		filtering *sdk.Filtering
		want      string
		removed   int
	}{
		"foreign entries go":                      {sdk.Hard, mixed, nil, sieved, 2},
		"a soft scope bounds arguments only":      {sdk.Soft, mixed, nil, mixed, 0},
		"clean bytes stay":                        {sdk.Hard, clean, nil, clean, 0},
		"no text stays no text":                   {sdk.Hard, "", nil, "", 0},
		"a plugin that removed nothing says less": {sdk.Hard, clean, &sdk.Filtering{Result: json.RawMessage(`{"results":["forged"]}`)}, clean, 0},
		"a plugin that leaves foreign entries": {
			sdk.Hard, mixed, &sdk.Filtering{Result: json.RawMessage(`{"results":[{"source_item_id":"b1"}]}`), Removed: 1},
			`{"diagnostics":{"tool_policy_scope_result_filter":{"removed":2}},"results":[]}`, 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.source.result, w.scoper.filtering = sdk.Result{Content: c.result}, c.filtering
			got := w.do(scopedCall(`{}`, c.mode))
			if diff := cmp.Diff(c.want, got.Content); diff != "" || got.Removed != c.removed {
				t.Errorf("removed %d, content (-want +got):\n%s", got.Removed, diff)
			}
		})
	}
}

func TestCitationsOfAToolAreFilteredToo(t *testing.T) {
	w := newWorld(t)
	w.source.result = sdk.Result{Content: `{}`, Citations: []string{"b1", "a1"}}
	got := w.do(scopedCall(`{}`, sdk.Hard))
	if diff := cmp.Diff([]string{"a1"}, got.Citations); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
}

func TestAResultThatCannotBeCheckedIsWithheld(t *testing.T) {
	const secret = "text of another knowledge base"
	cases := map[string]struct {
		result    sdk.Result
		filtering *sdk.Filtering
		err       error
		code      run.DenialCode
	}{
		"text":                {sdk.Result{Content: secret}, nil, nil, unverifiable},
		"text of a failure":   {sdk.Result{Content: secret, IsError: true}, nil, nil, unverifiable},
		"text in quotes":      {sdk.Result{Content: `"` + secret + `"`}, nil, nil, unverifiable},
		"two values":          {sdk.Result{Content: `{}{}`}, nil, nil, unverifiable},
		"a failed filter":     {sdk.Result{Content: `{}`}, nil, pluginFailure{run.PluginTimedOut}, run.PluginTimedOut},
		"a negative count":    {sdk.Result{Content: `{}`}, &sdk.Filtering{Removed: -1}, nil, run.PluginBadAnswer},
		"a result of no JSON": {sdk.Result{Content: `{}`}, &sdk.Filtering{Result: []byte("x"), Removed: 1}, nil, run.PluginBadAnswer},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.source.result, w.scoper.filtering, w.scoper.filterErr = c.result, c.filtering, c.err
			got := w.do(scopedCall(`{}`, sdk.Hard))
			want := `{"citations":[],"error_code":"` + string(c.code) + `","results":[],"type":"tool_scope_unverifiable_result"}`
			if got.Content != want || !got.IsError || len(got.Citations) > 0 {
				t.Errorf("outcome %+v", got)
			}
		})
	}
}

func TestTrustedTextPassesAHardScope(t *testing.T) {
	w := newWorld(t)
	w.source.tools[3].TrustedText = true
	w.source.result = sdk.Result{Content: "plain"}
	if got := w.do(scopedCall(`{}`, sdk.Hard)); got.Content != "plain" || got.IsError {
		t.Errorf("outcome %+v", got)
	}
}

func TestTheSameCallHasTheSameVerdict(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	call := scopedCall(`{"source_item_ids":["a2","b1"],"n":1.0}`, sdk.Hard)
	one, two := g.Check(context.Background(), call), g.Check(context.Background(), call)
	if one.ArgsDigest() != two.ArgsDigest() || cmp.Diff(one.Decision(), two.Decision()) != "" {
		t.Errorf("first %s, second %s", one.Args(), two.Args())
	}
}
