package policy

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

var (
	someone = sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska", UserID: "user_primary"}
	alpha   = sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"alpha"}, SourceItemIDs: []string{"a1", "a2", "a3"}}
)

func tool(schema string) run.Tool {
	return run.Tool{Name: "pska_t", RawName: "t", Server: "pska", Scoped: true, Schema: json.RawMessage(schema)}
}

func TestClampBoundsArguments(t *testing.T) {
	const bounds = `"knowledge_base_ids":["alpha"],"scope_mode":"hard"`
	const all = `"source_item_ids":["a1","a2","a3"]`
	cases := map[string]struct {
		schema, args string
		scope        sdk.Scope
		want         string
		outcome      run.ScopeOutcome
	}{
		"a filter hidden below another name is taken out": {
			`{}`, `{"query":"q","filter":{"Source_Item_Ids":["b1"],"knowledge_base_ids":["alpha"],"and":[{"source_item_id":"b2","x":1}]}}`, alpha,
			`{"filter":{"and":[{"x":1}],"knowledge_base_ids":["alpha"]},` + bounds + `,"query":"q",` + all + `}`,
			run.ScopeOutcome{Applied: true, Narrowed: []string{"Source_Item_Ids", "source_item_id"}},
		},
		"an identity hidden below another name is the run's": {
			`{}`, `{"filter":{"User_ID":"evil"},"messages":[{"user_id":"an author"}],"user_key":"evil"}`, alpha,
			`{"filter":{"user_id":"user_primary"},` + bounds + `,"messages":[{"user_id":"an author"}],` + all + `,"user_key":"pska:user_primary"}`,
			run.ScopeOutcome{Applied: true},
		},
		"nothing asked for gets the policy's lists": {
			`{}`, `{"query":"q"}`, alpha,
			`{` + bounds + `,"query":"q",` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"an empty list asks for nothing": {
			`{}`, `{"source_item_ids":[],"knowledge_base_ids":[]}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"blanks and nulls ask for nothing": {
			`{}`, `{"source_item_ids":[" ",null],"source_item_id":null,"source_refs":""}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"sources are intersected in the order requested": {
			`{}`, `{"source_item_ids":["a3","b1","a1","a3"]}`, alpha,
			`{` + bounds + `,"source_item_ids":["a3","a1"]}`,
			run.ScopeOutcome{Applied: true, Narrowed: []string{"source_item_ids"}},
		},
		"a single source stands for a list": {
			`{}`, `{"source_item_ids":"a2"}`, alpha,
			`{` + bounds + `,"source_item_ids":["a2"]}`,
			run.ScopeOutcome{Applied: true},
		},
		"knowledge bases are replaced": {
			`{}`, `{"knowledge_base_ids":["beta","gamma"]}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true, Narrowed: []string{"knowledge_base_ids"}},
		},
		"the model cannot soften the mode": {
			`{}`, `{"scope_mode":"soft"}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"only foreign sources leave nothing": {
			`{}`, `{"source_item_ids":["b1"]}`, alpha,
			`{` + bounds + `,"source_item_ids":[]}`,
			run.ScopeOutcome{Applied: true, Empty: true, Narrowed: []string{"source_item_ids"}},
		},
		"ids of another type lie outside": {
			`{}`, `{"source_item_ids":[1,{"id":"a1"}]}`, alpha,
			`{` + bounds + `,"source_item_ids":[]}`,
			run.ScopeOutcome{Applied: true, Empty: true, Narrowed: []string{"source_item_ids"}},
		},
		"a foreign single source leaves nothing": {
			`{}`, `{"source_item_id":"b1"}`, alpha,
			`{` + bounds + `,"source_item_ids":[]}`,
			run.ScopeOutcome{Applied: true, Empty: true, Narrowed: []string{"source_item_id"}},
		},
		"a single source inside passes": {
			`{}`, `{"source_item_id":"a2"}`, alpha,
			`{` + bounds + `,"source_item_id":"a2","source_item_ids":["a2"]}`,
			run.ScopeOutcome{Applied: true},
		},
		"a foreign single knowledge base becomes the only one there is": {
			`{}`, `{"knowledge_base_id":"beta"}`, alpha,
			`{"knowledge_base_id":"alpha",` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true, Narrowed: []string{"knowledge_base_id"}},
		},
		"a foreign single knowledge base among several leaves nothing": {
			`{}`, `{"knowledge_base_id":"beta"}`,
			sdk.Scope{Mode: sdk.Soft, KnowledgeBaseIDs: []string{"alpha", "gamma"}},
			`{"knowledge_base_ids":["alpha","gamma"],"scope_mode":"soft"}`,
			run.ScopeOutcome{Applied: true, Empty: true, Narrowed: []string{"knowledge_base_id"}},
		},
		"references outside are dropped": {
			`{}`, `{"source_refs":["a1","b1",{"source_item_id":"a2","page":1},{"source_ref":"b2"},{"page":3},` +
				`{"source_item_id":"a1","source_ref":"b1"},{"source_item_id":"a1","knowledge_base_id":"beta"},` +
				`{"source_item_id":"a1","inner":{"Source_Item_Id":"b1"}},7]}`, alpha,
			`{` + bounds + `,` + all + `,"source_refs":["a1",{"page":1,"source_item_id":"a2"}]}`,
			run.ScopeOutcome{Applied: true, Narrowed: []string{"source_refs"}},
		},
		"only foreign references leave nothing": {
			`{}`, `{"source_refs":["b1"]}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true, Empty: true, Narrowed: []string{"source_refs"}},
		},
		"what cannot be checked passes and is listed": {
			`{}`, `{"document_ids":["d"],"job_id":"j","chunk_ids":null,"scope":{"entity_ids":["e"]}}`, alpha,
			`{"chunk_ids":null,"document_ids":["d"],"job_id":"j",` + bounds +
				`,"scope":{"entity_ids":["e"],"knowledge_base_ids":["alpha"],"mode":"hard",` + all + `},` + all + `}`,
			run.ScopeOutcome{Applied: true, Unverified: []string{"document_ids", "job_id", "scope.entity_ids"}},
		},
		"sources pass unverified where only knowledge bases are bounded": {
			`{}`, `{"source_item_ids":["b1"]}`,
			sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"alpha"}},
			`{` + bounds + `,"source_item_ids":["b1"]}`,
			run.ScopeOutcome{Applied: true, Unverified: []string{"source_item_ids"}},
		},
		"a nested scope is bounded too": {
			`{}`, `{"scope":{"mode":"soft","scope_mode":"soft","knowledge_base_ids":["beta"],"source_item_ids":["a2","b1"],"note":"n"}}`, alpha,
			`{` + bounds + `,"scope":{"knowledge_base_ids":["alpha"],"mode":"hard","note":"n","scope_mode":"hard","source_item_ids":["a2"]},"source_item_ids":["a2"]}`,
			run.ScopeOutcome{Applied: true, Narrowed: []string{"knowledge_base_ids", "source_item_ids"}},
		},
		"two wishes without a common source leave nothing": {
			`{}`, `{"source_item_ids":["a1"],"scope":{"source_item_ids":["a2"]}}`, alpha,
			`{` + bounds + `,"scope":{"knowledge_base_ids":["alpha"],"mode":"hard","source_item_ids":[]},"source_item_ids":[]}`,
			run.ScopeOutcome{Applied: true, Empty: true},
		},
		"a scope that is no object is dropped": {
			`{}`, `{"scope":"everything"}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"a scope that is no object is replaced where the tool declares one": {
			`{"properties":{"scope":{"type":"object"},"knowledge_base_ids":{},"source_item_ids":{}}}`, `{"scope":["b1"]}`, alpha,
			`{` + bounds + `,"scope":{"knowledge_base_ids":["alpha"],"mode":"hard",` + all + `},` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"a tool that declares only a scope object gets one": {
			`{"properties":{"scope":{"type":"object"}}}`, `{}`, alpha,
			`{` + bounds + `,"scope":{"knowledge_base_ids":["alpha"],"mode":"hard",` + all + `},` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"a closed schema gets only declared keys": {
			`{"properties":{"q":{},"knowledge_base_ids":{},"source_item_ids":{}},"additionalProperties":false}`,
			`{"q":"x","source_refs":["a1"],"scope":{"mode":"soft"}}`, alpha,
			`{"knowledge_base_ids":["alpha"],"q":"x",` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"a closed schema may take the bounds in its scope": {
			`{"properties":{"scope":{"type":"object"}},"additionalProperties":false}`, `{}`, alpha,
			`{"scope":{"knowledge_base_ids":["alpha"],"mode":"hard",` + all + `}}`,
			run.ScopeOutcome{Applied: true},
		},
		"a closed schema without scope keys runs without injection": {
			`{"properties":{"q":{}},"additionalProperties":false}`, `{"q":"x","source_item_ids":["a1"]}`, alpha,
			`{"q":"x"}`,
			run.ScopeOutcome{},
		},
		"a scope that bounds nothing sets its mode": {
			`{}`, `{"source_item_ids":["b1"]}`,
			sdk.Scope{Mode: sdk.Soft},
			`{"scope_mode":"soft","source_item_ids":["b1"]}`,
			run.ScopeOutcome{Applied: true},
		},
		"spellings in another case are dropped": {
			`{}`, `{"Source_Item_IDs":["b1"],"SCOPE":{"x":1},"source_item_id\u017f":["b1"],"User_Id":"root"}`, alpha,
			`{` + bounds + `,` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"the last of duplicate keys counts": {
			`{}`, `{"source_item_ids":["a1"],"source_item_ids":["a2"]}`, alpha,
			`{` + bounds + `,"source_item_ids":["a2"]}`,
			run.ScopeOutcome{Applied: true},
		},
		"numbers stay as written": {
			`{}`, `{"n":1.50,"big":12345678901234567890}`, alpha,
			`{"big":12345678901234567890,` + bounds + `,"n":1.50,` + all + `}`,
			run.ScopeOutcome{Applied: true},
		},
		"declared identity comes from the run": {
			`{"properties":{"user_id":{},"owner_user_id":{},"represented_user_id":{},"tenant_id":{}}}`, `{"user_id":"root"}`, alpha,
			`{` + bounds + `,"owner_user_id":"user_primary","represented_user_id":"user_primary",` + all +
				`,"tenant_id":"pska","user_id":"user_primary"}`,
			run.ScopeOutcome{Applied: true},
		},
		"undeclared identity never comes from the model": {
			`{}`, `{"user_id":"root","scope":{"tenant_id":"other"}}`, alpha,
			`{` + bounds + `,"scope":{"knowledge_base_ids":["alpha"],"mode":"hard",` + all + `,"tenant_id":"pska"},` + all +
				`,"user_id":"user_primary"}`,
			run.ScopeOutcome{Applied: true},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			args := json.RawMessage(c.args)
			got, outcome, err := Clamp(tool(c.schema), args, args, c.scope, someone)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(canonical(t, c.want)), string(got)); diff != "" {
				t.Errorf("args (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.outcome, outcome); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func canonical(t *testing.T, text string) json.RawMessage {
	t.Helper()
	raw, err := run.Canonical(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAScopePluginThatChangesOtherArgumentsIsFoundOut(t *testing.T) {
	cases := map[string]struct{ model, plugin string }{
		"a changed value":       {`{"query":"q"}`, `{"query":"p"}`},
		"an added argument":     {`{"query":"q"}`, `{"query":"q","limit":9}`},
		"a removed argument":    {`{"query":"q"}`, `{}`},
		"a number written anew": {`{"n":1.0}`, `{"n":1}`},
		"a list":                {`{}`, `[]`},
		"nothing":               {`{}`, ``},
		"trailing bytes":        {`{}`, `{} {}`},
		"a nested change":       {`{"o":{"source_item_ids":["a1"]}}`, `{"o":{"source_item_ids":["b1"]}}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := Clamp(tool(`{}`), json.RawMessage(c.model), json.RawMessage(c.plugin), alpha, someone)
			if !errors.Is(err, ErrTampered) {
				t.Errorf("error = %v, want ErrTampered", err)
			}
		})
	}
}

func TestAScopePluginCannotWiden(t *testing.T) {
	model := json.RawMessage(`{"query":"q","source_item_ids":["a1"],"user_id":"root"}`)
	plugin := json.RawMessage(`{"user_id":"root","query":"q","source_item_ids":["a1","b1"],"knowledge_base_ids":["beta"],` +
		`"scope":{"source_item_ids":["b1"]},"scope_mode":"soft","source_refs":["b1"]}`)
	got, _, err := Clamp(tool(`{}`), model, plugin, alpha, someone)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"knowledge_base_ids":["alpha"],"query":"q","scope_mode":"hard","source_item_ids":["a1"],"user_id":"user_primary"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
}

func TestIdentityWithoutAValueIsLeftOut(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"user_id":{},"tenant_id":{}}}`)
	cases := map[string]struct {
		identity sdk.Identity
		want     string
	}{
		"nobody":                       {sdk.Identity{}, `{"q":1}`},
		"the part after the colon":     {sdk.Identity{UserKey: "pska:u"}, `{"q":1,"user_id":"u"}`},
		"the knowledge system's own":   {sdk.Identity{UserKey: "pska:u", UserID: "v"}, `{"q":1,"user_id":"v"}`},
		"the tenant of the credential": {sdk.Identity{UserKey: "u", TenantKey: "t"}, `{"q":1,"tenant_id":"t"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := BindIdentity(schema, json.RawMessage(`{"q":1,"user_id":"root","TENANT_ID":"x"}`), c.identity)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("args (-want +got):\n%s", diff)
			}
		})
	}
}
