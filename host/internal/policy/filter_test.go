package policy

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func TestForeignEntriesAreRemovedFromResults(t *testing.T) {
	said := func(n string) string {
		return `"diagnostics":{"tool_policy_scope_result_filter":{"removed":` + n + `}}`
	}
	cases := map[string]struct {
		result, want string
		removed      int
	}{
		"an entry that names a foreign source": {
			`{"results":[{"source_item_id":"a1","text":"x"},{"source_item_id":"b1","text":"y"}]}`,
			`{` + said("1") + `,"results":[{"source_item_id":"a1","text":"x"}]}`, 1,
		},
		"an entry that names a foreign reference or knowledge base": {
			`{"results":[{"source_ref":"b1"},{"knowledge_base_id":"beta","source_item_id":"a1"},{"text":"nobody's"}]}`,
			`{` + said("2") + `,"results":[{"text":"nobody's"}]}`, 2,
		},
		"an entry whose citation is foreign": {
			`{"results":[{"text":"y","citation":{"source_id":"b1"}},{"text":"x","citation":{"source_id":"a1"}}]}`,
			`{` + said("1") + `,"results":[{"citation":{"source_id":"a1"},"text":"x"}]}`, 1,
		},
		"an entry with a foreign citation among others": {
			`{"results":[{"text":"y","citations":[{"source_item_id":"a1"},{"source_item_id":"b1"}]}]}`,
			`{` + said("1") + `,"results":[]}`, 1,
		},
		"citations of the whole result one by one": {
			`{"citations":[{"source_id":"a1"},{"source_id":"b1"}]}`,
			`{"citations":[{"source_id":"a1"}],` + said("1") + `}`, 1,
		},
		"inside a wrapper": {
			`{"data":{"results":[{"source_item_id":"b1"},{"source_item_id":"a1"}]}}`,
			`{"data":{"results":[{"source_item_id":"a1"}]},` + said("1") + `}`, 1,
		},
		"inside an entry's own list": {
			`{"items":[{"source_item_id":"a1","chunks":[{"source_item_id":"b1"},{"source_item_id":"a1"}]}]}`,
			`{` + said("1") + `,"items":[{"chunks":[{"source_item_id":"a1"}],"source_item_id":"a1"}]}`, 1,
		},
		"a whole document": {
			`{"document":{"meta":{"source_item_id":"b1"},"text":"y"},"total":1}`,
			`{` + said("1") + `,"total":1}`, 1,
		},
		"the whole result": {
			`{"source_item_id":"b1","text":"y"}`,
			`{"citations":[],` + said("1") + `,"results":[]}`, 1,
		},
		"a list at the top": {
			`[{"source_item_id":"b1"},{"source_item_id":"a1"}]`, `[{"source_item_id":"a1"}]`, 1,
		},
		"ids in a list of the result": {
			`{"source_item_ids":["a1","b1"],"diagnostics":{"took":1}}`,
			`{"diagnostics":{"took":1,"tool_policy_scope_result_filter":{"removed":1}},"source_item_ids":["a1"]}`, 1,
		},
		"JSON inside text": {
			`{"result":"{\"results\":[{\"source_item_id\":\"b1\"}]}"}`,
			`{` + said("1") + `,"result":"{\"results\":[]}"}`, 1,
		},
		"an id of another type": {
			`{"results":[{"source_item_id":7}]}`, `{` + said("1") + `,"results":[]}`, 1,
		},
		"the edges of a graph stay": {
			`{"edges":[ {"source_id":"node1","target_id":"node2"} ]}`,
			`{"edges":[ {"source_id":"node1","target_id":"node2"} ]}`, 0,
		},
		"nothing, and the bytes stay": {
			"{ \"results\" : [ {\"source_item_id\":\"a1\",\"score\":1.50} ],\n \"html\":\"<b>\" }",
			"{ \"results\" : [ {\"source_item_id\":\"a1\",\"score\":1.50} ],\n \"html\":\"<b>\" }", 0,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, removed, err := FilterResult(json.RawMessage(c.result), alpha, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if removed != c.removed {
				t.Errorf("removed = %d, want %d", removed, c.removed)
			}
		})
	}
}

func TestDiagnosticsCountWhatThePluginRemovedToo(t *testing.T) {
	got, removed, err := FilterResult(json.RawMessage(`{"results":[{"source_item_id":"b1"}]}`), alpha, 2)
	if err != nil || removed != 3 {
		t.Fatalf("removed = %d, error = %v", removed, err)
	}
	want := `{"diagnostics":{"tool_policy_scope_result_filter":{"removed":3}},"results":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestAResultThatIsNoJSONCannotBeVerified(t *testing.T) {
	for _, text := range []string{`plain text`, `"text in quotes"`, `{"a":1}{"b":2}`, ``, `{"a":`} {
		if _, _, err := FilterResult(json.RawMessage(text), alpha, 0); !errors.Is(err, ErrUnverifiable) {
			t.Errorf("%q: error = %v, want ErrUnverifiable", text, err)
		}
	}
}

func TestOnlyAHardScopeThatBoundsSomethingFilters(t *testing.T) {
	cases := []struct {
		scope *sdk.Scope
		want  bool
	}{
		{nil, false},
		{&sdk.Scope{Mode: sdk.Hard}, false},
		{&sdk.Scope{Mode: sdk.Soft, SourceItemIDs: []string{"a"}}, false},
		{&sdk.Scope{Mode: sdk.Hard, SourceItemIDs: []string{"a"}}, true},
		{&sdk.Scope{Mode: "", KnowledgeBaseIDs: []string{"k"}}, true},
	}
	for _, c := range cases {
		if got := Filters(c.scope); got != c.want {
			t.Errorf("Filters(%+v) = %v, want %v", c.scope, got, c.want)
		}
	}
}

func TestCitationsOutsideTheScopeAreDropped(t *testing.T) {
	got := FilterCitations([]string{"a2", "b1", "a1"}, alpha)
	if diff := cmp.Diff([]string{"a2", "a1"}, got); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
}
