package policy

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func FuzzToolPolicyIsUnderstoodOrAllowsNoMore(f *testing.F) {
	for _, text := range []string{
		`{"mode":"allowlist","allowed_tools":["a"],"scope":{"mode":"hard","knowledge_base_ids":["k"],"source_item_ids":"s"}}`,
		`{"mode":[{}],"scope":{"mode":{},"source_item_ids":[[]]}}`, `null`, `"none"`, `{"allowed_tools":[null]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := run.Decode(text)
		if err != nil {
			return
		}
		got, mistakes := ParseToolPolicy(value)
		fields, isObject := value.(map[string]any)
		restricts := isObject && (fields["mode"] != nil || fields["allowed_tools"] != nil) || value != nil && !isObject
		if restricts && got.Mode == run.Unrestricted {
			t.Fatalf("%s became unrestricted", text)
		}
		if !slices.IsSorted(got.Allowed) || got.Allowed == nil {
			t.Fatalf("%s: allowed = %v", text, got.Allowed)
		}
		if isObject && fields["scope"] != nil && got.Scope == nil && len(mistakes) == 0 {
			t.Fatalf("%s lost its scope", text)
		}
		if got.Scope != nil {
			mustBound(t, *got.Scope)
		}
	})
}

func mustBound(t *testing.T, scope sdk.Scope) {
	t.Helper()
	for _, ids := range [][]string{scope.KnowledgeBaseIDs, scope.SourceItemIDs} {
		if ids != nil && (len(ids) == 0 || slices.Contains(ids, "")) {
			t.Fatalf("scope %+v bounds nothing", scope)
		}
	}
	if scope.Mode != sdk.Hard && scope.Mode != sdk.Soft {
		t.Fatalf("scope mode = %q", scope.Mode)
	}
}

func FuzzArgumentsAreOneObjectOrAnIssue(f *testing.F) {
	f.Add([]byte(`{"properties":{"q":{"type":"string"}},"required":["q"]}`), []byte(`{"q":"x","q":1}`))
	f.Add([]byte(`{"properties":{"q":{"type":["integer",7]}},"required":[7]}`), []byte(`{"q":1e999}`))
	f.Add([]byte(`[]`), []byte(``))
	f.Fuzz(func(t *testing.T, schema, written []byte) {
		args, issue := ReadArguments(schema, written)
		if (args == nil) == (issue == nil) {
			t.Fatalf("args = %s, issue = %v", args, issue)
		}
		if issue != nil {
			return
		}
		again, issue := ReadArguments(schema, args)
		if issue != nil || !bytes.Equal(args, again) || !json.Valid(args) || args[0] != '{' {
			t.Fatalf("read %s, then %s, %v", args, again, issue)
		}
		CheckArguments(schema, args)
	})
}
