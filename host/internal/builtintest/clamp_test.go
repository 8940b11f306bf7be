package builtintest_test

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/policies/pskascope"
	"github.com/fastreact/fastreact/sdk"
)

// The host takes a scope plugin that changes anything else for a tampered one: its own plugin must never look so,
// and where the host finds nothing inside the scope, the plugin must not find more.
func TestHostClampAgreesWithPskaScope(t *testing.T) {
	scope := sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb_a"}, SourceItemIDs: []string{"s1", "s2"}}
	for _, args := range []string{
		`{}`, `{"query":"q","top_k":5,"n":1.10}`, `{"source_item_ids":["s2","x"]}`, `{"source_item_ids":["x"]}`,
		`{"knowledge_base_ids":["kb_b"]}`, `{"knowledge_base_id":"kb_b"}`, `{"source_item_id":"s1"}`, `{"source_item_id":"x"}`,
		`{"scope":{"depth":2,"mode":"soft","source_item_ids":["s1"]}}`, `{"scope":"x"}`, `{"scope":null}`, `{"Scope":{"a":1}}`,
		`{"Knowledge_Base_IDs":["kb_b"],"query":"q"}`, `{"source_refs":["s1","x"]}`, `{"source_refs":[{"source_item_id":"x"}]}`,
		`{"source_ref":"x"}`, `{"document_ids":["d"],"job_id":"j"}`, `{"source_item_ids":7}`, `{"mode":"fast","user_id":"u"}`,
	} {
		for _, schema := range []string{`{}`, `{"properties":{"query":{},"source_item_ids":{}},"additionalProperties":false}`} {
			injection, err := pskascope.Plugin{}.Inject(sdk.InjectRequest{Args: json.RawMessage(args), Scope: scope, Schema: json.RawMessage(schema)})
			if err != nil {
				t.Fatal(err)
			}
			clamped, outcome, err := policy.Clamp(run.Tool{Schema: json.RawMessage(schema)}, json.RawMessage(args), injection.Args, scope, sdk.Identity{})
			if err != nil {
				t.Errorf("%s: host says %v to %s", args, err, injection.Args)
				continue
			}
			if outcome.Empty && !injection.Empty {
				t.Errorf("%s: the host finds nothing inside the scope, the plugin does: %s", args, clamped)
			}
		}
	}
}
