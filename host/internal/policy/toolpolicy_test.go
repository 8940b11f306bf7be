package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func parse(t *testing.T, text string) (run.ToolPolicy, []FieldError) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return ParseToolPolicy(value)
}

func TestAToolPolicyMeansWhatItSays(t *testing.T) {
	names := func(list ...string) []string { return append([]string{}, list...) }
	cases := map[string]run.ToolPolicy{
		`null`:                {Allowed: names()},
		`{}`:                  {Allowed: names()},
		`{"mode":null}`:       {Allowed: names()},
		`{"mode":"none"}`:     {Mode: run.NoTools, Allowed: names()},
		`{"mode":"off"}`:      {Mode: run.NoTools, Allowed: names()},
		`{"mode":"disabled"}`: {Mode: run.NoTools, Allowed: names()},
		`{"mode":"no_tools","allowed_tools":["a"]}`:      {Mode: run.NoTools, Allowed: names("a")},
		`{"mode":"allowlist"}`:                           {Mode: run.Allowlist, Allowed: names()},
		`{"mode":"allow","allowed_tools":["b","a","b"]}`: {Mode: run.Allowlist, Allowed: names("a", "b")},
		`{"mode":"allowed_tools","allowed_tools":[" "]}`: {Mode: run.Allowlist, Allowed: names()},
		`{"allowed_tools":["a"]}`:                        {Mode: run.Allowlist, Allowed: names("a")},
		`{"allowed_tools":[]}`:                           {Mode: run.Allowlist, Allowed: names()},
		`{"allowed_tools":null}`:                         {Allowed: names()},
		`{"scope":null}`:                                 {Allowed: names()},
		`{"scope":{}}`:                                   {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Hard}},
		`{"scope":{"mode":"soft"}}`:                      {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Soft}},
		`{"scope":{"scope_mode":"soft"}}`:                {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Soft}},
		`{"scope":{"mode":"soft","scope_mode":"soft"}}`:  {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Soft}},
		`{"scope":{"mode":"soft","scope_mode":"hard"}}`:  {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Hard}},
		`{"scope":{"mode":"hard","scope_mode":"soft"}}`:  {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Hard}},
		`{"scope":{"knowledge_base_ids":"kb","source_item_ids":["b"," ","a","b"]}}`: {
			Allowed: names(),
			Scope:   &sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: names("kb"), SourceItemIDs: names("b", "a")},
		},
		`{"scope":{"knowledge_base_ids":null,"unknown":7}}`: {Allowed: names(), Scope: &sdk.Scope{Mode: sdk.Hard}},
	}
	for text, want := range cases {
		got, mistakes := parse(t, text)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", text, mistakes)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestAToolPolicyThatIsNotUnderstoodIsRefused(t *testing.T) {
	cases := map[string]string{
		`"none"`:                                 "body.tool_policy",
		`[]`:                                     "body.tool_policy",
		`false`:                                  "body.tool_policy",
		`{"mode":"all"}`:                         "body.tool_policy.mode",
		`{"mode":""}`:                            "body.tool_policy.mode",
		`{"mode":"None"}`:                        "body.tool_policy.mode",
		`{"mode":["none"]}`:                      "body.tool_policy.mode",
		`{"mode":{}}`:                            "body.tool_policy.mode",
		`{"allowed_tools":"a"}`:                  "body.tool_policy.allowed_tools",
		`{"allowed_tools":[1]}`:                  "body.tool_policy.allowed_tools",
		`{"scope":"kb"}`:                         "body.tool_policy.scope",
		`{"scope":{"mode":"strict"}}`:            "body.tool_policy.scope.mode",
		`{"scope":{"mode":""}}`:                  "body.tool_policy.scope.mode",
		`{"scope":{"scope_mode":1}}`:             "body.tool_policy.scope.scope_mode",
		`{"scope":{"knowledge_base_ids":[]}}`:    "body.tool_policy.scope.knowledge_base_ids",
		`{"scope":{"knowledge_base_ids":[" "]}}`: "body.tool_policy.scope.knowledge_base_ids",
		`{"scope":{"source_item_ids":""}}`:       "body.tool_policy.scope.source_item_ids",
		`{"scope":{"source_item_ids":[1]}}`:      "body.tool_policy.scope.source_item_ids",
		`{"scope":{"source_item_ids":{}}}`:       "body.tool_policy.scope.source_item_ids",
	}
	for text, want := range cases {
		_, mistakes := parse(t, text)
		if len(mistakes) != 1 || strings.Join(mistakes[0].Loc, ".") != want {
			t.Errorf("%s: mistakes = %v, want one at %s", text, mistakes, want)
		}
	}
}

func TestAMistakenToolPolicyAllowsNothing(t *testing.T) {
	for _, text := range []string{`"x"`, `{"mode":"everything"}`} {
		if got, _ := parse(t, text); got.Mode != run.NoTools {
			t.Errorf("%s: mode = %q, want none", text, got.Mode)
		}
	}
}

// TestALongScopeIsReadInOneSweep would take minutes otherwise: a request may hold as many ids.
func TestALongScopeIsReadInOneSweep(t *testing.T) {
	ids := make([]any, 500_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("source-%d", i)
	}
	policy, faults := ParseToolPolicy(map[string]any{"scope": map[string]any{"source_item_ids": append(ids, ids...)}})
	if len(faults) > 0 || len(policy.Scope.SourceItemIDs) != len(ids) {
		t.Errorf("%d ids, %v", len(policy.Scope.SourceItemIDs), faults)
	}
}
