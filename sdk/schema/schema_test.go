package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/schema"
)

// compile reads all schemas and compiles one of them.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	names, err := schema.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range names {
		text, err := schema.Read(each)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", each, err)
		}
		if err := compiler.AddResource(schema.Base+each+".json", document); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compiler.Compile(schema.Base + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func validate(t *testing.T, name string, raw []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, name).Validate(value)
}

var (
	object   = json.RawMessage(`{"a":1}`)
	identity = sdk.Identity{
		UserKey: "pska:u", TenantKey: "pska", UserID: "u", Caller: "pska", Purpose: "qa", SystemKey: "s", Roles: []string{"r"},
		AuthProvider: "service_token",
	}
	scope    = sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb"}, SourceItemIDs: []string{"s1"}}
	opinion  = sdk.Opinion{Action: sdk.Deny, Reason: "No.", PatternMatched: "p"}
	manifest = sdk.Manifest{
		ABI: 1, Name: "notes", Version: "1.0.0", Kind: sdk.KindTool, Description: "d",
		Tools: []sdk.ToolSpec{{Name: "note", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`), Scope: true}},
		Capabilities: sdk.Capabilities{
			Files:    []sdk.FileAccess{{At: "/", Mode: sdk.ReadOnly}},
			HTTP:     []sdk.HTTPAccess{{Scheme: "http", Host: "api.example", Port: 8080, Methods: []string{"POST"}}},
			Secrets:  []sdk.SecretAccess{{Name: "token", Hosts: []string{"api.example:8080"}}},
			KV:       &sdk.KVAccess{Bytes: 1},
			Progress: &sdk.ProgressAccess{Bytes: 1},
		},
		Vectors: []sdk.Vector{{Name: "v", Op: "call", Input: object, Want: object}},
		Limits:  sdk.Limits{Wall: sdk.Duration(time.Second), MemoryPages: 1, OutputBytes: 1, LogBytes: 1},
	}
)

// full holds one value of every payload with every field set.
func full() map[string]any {
	return map[string]any{
		"identity":       identity,
		"scope":          scope,
		"call":           sdk.Call{Tool: "t", Args: object, Identity: identity, Scope: &scope, RunID: "r", CallID: "c", Deadline: time.Unix(0, 0)},
		"progress":       sdk.Progress{Text: "t", Done: new(1.0), Total: new(2.0)},
		"result":         sdk.Result{Content: "c", Structured: object, IsError: true, Citations: []string{"s"}},
		"question":       sdk.Question{Tool: "t", Server: "s", RawName: "r", Args: object, Identity: identity, Scope: &scope, Now: time.Unix(0, 0), Static: opinion},
		"opinion":        opinion,
		"inject-request": sdk.InjectRequest{Tool: "t", Args: object, Scope: scope, Schema: object},
		"injection":      sdk.Injection{Args: object, Applied: true, Narrowed: []string{"k"}, Empty: true, Unverified: []string{"k"}},
		"filter-request": sdk.FilterRequest{Result: object, Scope: scope},
		"filtering":      sdk.Filtering{Result: object, Removed: 1},
		"review-request": sdk.ReviewRequest{Draft: object, Evidence: object, Question: "q"},
		"review":         sdk.Review{Verdict: sdk.Repair, Reasons: []string{"r"}},
		"manifest":       manifest,
		"failure":        map[string]any{"error": map[string]string{"code": "c", "message": "m"}},
	}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEveryPayloadValidates(t *testing.T) {
	for name, value := range full() {
		if err := validate(t, name, encode(t, value)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSparsePayloadsValidate(t *testing.T) {
	for name, value := range map[string]any{
		"call":           sdk.Call{Tool: "t", Args: json.RawMessage(`{}`)},
		"result":         sdk.Result{},
		"question":       sdk.Question{Tool: "t", Args: json.RawMessage(`{}`)},
		"inject-request": sdk.InjectRequest{Tool: "t", Args: json.RawMessage(`{}`), Scope: sdk.Scope{Mode: sdk.Soft}},
		"injection":      sdk.Injection{Args: json.RawMessage(`{}`)},
		"filtering":      sdk.Filtering{Result: json.RawMessage(`[]`)},
		"review":         sdk.Review{Verdict: sdk.Release},
		"manifest":       sdk.Manifest{ABI: 1, Name: "p", Version: "1", Kind: sdk.KindPolicy, Match: &sdk.Match{Tools: []string{"exec"}}},
	} {
		if err := validate(t, name, encode(t, value)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEverySchemaHasAPayloadAndEveryFieldIsDescribed(t *testing.T) {
	names, err := schema.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		value, found := full()[name]
		if !found {
			t.Errorf("no payload for schema %q", name)
			continue
		}
		text, err := schema.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		var declared struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(text, &declared); err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(encode(t, value), &fields); err != nil {
			t.Fatal(err)
		}
		for field := range fields {
			if declared.Properties[field] == nil {
				t.Errorf("%s: the field %q is not in the schema", name, field)
			}
		}
	}
}

func TestMalformedPayloadsAreRefused(t *testing.T) {
	for _, bad := range []struct{ schema, payload string }{
		{"opinion", `{"action":"maybe"}`},
		{"opinion", `{}`},
		{"review", `{"verdict":"ok","reasons":[]}`},
		{"scope", `{"mode":"hard","source_item_ids":[]}`},
		{"injection", `{"args":[],"applied":true,"narrowed":[]}`},
		{"filtering", `{"result":{},"removed":-1}`},
		{"call", `{"tool":"t","args":null,"identity":{"user_key":"","tenant_key":"","user_id":""},"run_id":"","call_id":""}`},
		{"manifest", `{"abi":1,"name":"p","version":"1","kind":"tool"}`},
		{"manifest", `{"abi":1,"name":"p","version":"1","kind":"policy","grants":{}}`},
		{"manifest", `{"abi":1,"name":"p","version":"1","kind":"policy","capabilities":{"files":[{"at":"/","mode":"ro"}]}}`},
		{"manifest", `{"abi":1,"name":"p","version":"1","kind":"guard","match":{"tools":["x"]}}`},
		{"manifest", `{"abi":2,"name":"p","version":"1","kind":"policy"}`},
	} {
		if err := validate(t, bad.schema, []byte(bad.payload)); err == nil {
			t.Errorf("%s accepts %s", bad.schema, bad.payload)
		}
	}
}

func TestManifestsOfTheBuiltInPluginsValidate(t *testing.T) {
	found, err := filepath.Glob("../../p*/*/module/manifest.json")
	if err != nil || len(found) < 3 {
		t.Fatalf("manifests: %v (%v)", found, err)
	}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, "manifest", raw); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
