package policy

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

var fuzzSchemas = []string{
	``, `{}`,
	`{"properties":{"scope":{"type":"object"}}}`,
	`{"properties":{"scope":{"type":"object","additionalProperties":false,"properties":{"source_item_ids":{}}}},"additionalProperties":false}`,
	`{"properties":{"source_item_ids":{},"user_id":{}},"additionalProperties":false}`,
	`{"properties":{"source_item_id":{"type":"string"},"source_refs":{}},"additionalProperties":false}`,
	`{"additionalProperties":false}`,
}

func FuzzClampNeverLetsAForeignIDThrough(f *testing.F) {
	for i, args := range []string{
		`{"source_item_ids":["a1","b1"],"knowledge_base_ids":"beta"}`,
		`{"scope":{"source_item_ids":["b1",["b1"]],"source_refs":[{"source_ref":"b1"}]}}`,
		`{"source_refs":[["b1"],{"source_item_id":["a1","b1"]}],"source_ref":"b1","Scope":{"source_item_ids":["b1"]}}`,
		`{"knowledge_base_id":["alpha","beta"],"source_item_id":{"x":"b1"}}`,
		`{"source_item_ids":["a1"],"source_item_ids":["b1"],"scope":[{"source_item_ids":["b1"]}]}`,
	} {
		f.Add(uint8(i), []byte(args), []byte(`{"source_item_ids":["b1"]}`))
	}
	f.Fuzz(func(t *testing.T, schema uint8, model, plugin []byte) {
		target := tool(fuzzSchemas[int(schema)%len(fuzzSchemas)])
		if _, _, err := Clamp(target, model, plugin, alpha, someone); err != nil {
			plugin = model // tampered, or no object: go on with an honest plugin
		}
		args, outcome, err := Clamp(target, model, plugin, alpha, someone)
		if err != nil {
			return
		}
		mustLieInside(t, args)
		if outcome.Empty {
			return
		}
		again, _, err := Clamp(target, args, args, alpha, someone)
		if err != nil || !bytes.Equal(args, again) {
			t.Fatalf("clamped once: %s\nclamped twice: %s\nerror: %v", args, again, err)
		}
	})
}

// mustLieInside looks at every argument that the host owns; free arguments are the model's own affair.
func mustLieInside(t *testing.T, args json.RawMessage) {
	t.Helper()
	object, err := decodeObject(args)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range object {
		if isIdentityKey(key) && value != identityValue(key, someone) {
			t.Fatalf("identity %s = %v in %s", key, value, args)
		}
		if !isScopeKey(key) {
			continue
		}
		if nested, isObject := value.(map[string]any); key == keyScope && isObject {
			for inner, value := range nested {
				mustNameInside(t, inner, value, args)
			}
			continue
		}
		mustNameInside(t, key, value, args)
	}
}

func mustNameInside(t *testing.T, key string, value any, args json.RawMessage) {
	t.Helper()
	n := naming{scope: alpha}
	if _, isName := n.bound(key); !isName {
		return
	}
	if list, isList := value.([]any); key == keyRefs && isList {
		for _, entry := range list {
			id, isText := entry.(string)
			if _, foreign := n.in(entry); foreign || isText && foreignName(n, keySource1, id) {
				t.Fatalf("reference %v in %s", entry, args)
			}
		}
		return
	}
	if _, foreign := n.under(key, value); foreign {
		t.Fatalf("%s = %v in %s", key, value, args)
	}
}

func FuzzFilterLeavesNoForeignEntry(f *testing.F) {
	for _, result := range []string{
		`{"results":[{"source_item_id":"b1"},{"source_item_id":"a1"}],"citations":[{"source_id":"b1"}]}`,
		`{"result":"{\"results\":[{\"source_ref\":\"b1\"}]}"}`,
		`[{"citations":[{"source_id":"b1"}]},{"chunks":[{"source_item_id":"b1"}]}]`,
		`{"document":{"meta":{"source_item_id":"b1"},"text":"t"}}`,
	} {
		f.Add([]byte(result))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		filtered, removed, err := FilterResult(result, alpha, 0)
		if err != nil {
			return
		}
		if removed == 0 && !bytes.Equal(filtered, result) {
			t.Fatalf("nothing removed, yet %q became %q", result, filtered)
		}
		value, err := run.Decode(filtered)
		if err != nil {
			t.Fatal(err)
		}
		if _, foreign := (naming{scope: alpha}).in(value); foreign {
			t.Fatalf("foreign entry left in %s", filtered)
		}
		if _, again, _ := FilterResult(filtered, alpha, 0); again != 0 {
			t.Fatalf("%d more removed from %s", again, filtered)
		}
	})
}
