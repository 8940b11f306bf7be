package pskascope_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/policies/pskascope"
	"github.com/fastreact/fastreact/policies/pskascope/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestNativeScoperKeepsTheContract(t *testing.T) {
	contract.Suite().Run(t, func(*testing.T, string) plugintest.Driver {
		return func(op sdk.Op, input []byte) ([]byte, error) { return guest.Dispatch(pskascope.Plugin{}, op, input) }
	})
}

func TestUntouchedResultKeepsItsBytes(t *testing.T) {
	result := "\n{ \"results\" : [ { \"source_item_id\" : \"s1\" } ] }\n"
	got, err := pskascope.Plugin{}.Filter(sdk.FilterRequest{
		Result: json.RawMessage(result), Scope: sdk.Scope{Mode: sdk.Hard, SourceItemIDs: []string{"s1"}},
	})
	if err != nil || string(got.Result) != result || got.Removed != 0 {
		t.Errorf("result %q, removed %d, %v", got.Result, got.Removed, err)
	}
}

func TestArgumentsThatAreNoObjectFail(t *testing.T) {
	for _, args := range []string{``, `null`, `[]`, `"x"`, `7`, `{`, `{"a":1} {}`, `{"a":}`} {
		if got, err := (pskascope.Plugin{}).Inject(sdk.InjectRequest{Args: json.RawMessage(args)}); err == nil {
			t.Errorf("%q was bounded to %s", args, got.Args)
		}
	}
}

var bounded = sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb_a"}, SourceItemIDs: []string{"s1", "s2"}}

// FuzzInjectedArgumentsStayInTheScope reads the injected arguments as a lenient server would: keys in any case, the
// first or the last of doubled ones.
func FuzzInjectedArgumentsStayInTheScope(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"source_item_ids":["s2","x"]}`, `{"Source_Item_IDs":["x"]}`, `{"scope":{"knowledge_base_ids":"kb_b"}}`,
		`{"scope":"x","source_refs":[{"source_item_id":"x"},"s1"]}`, `{"source_item_ids":["x"],"source_item_ids":null}`,
		`{"knowledge_base_id":["kb_a","kb_b"],"source_ref":7}`, `{"scope":{"scope":{"source_item_ids":["x"]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got, err := pskascope.Plugin{}.Inject(sdk.InjectRequest{Args: json.RawMessage(args), Scope: bounded})
		if err != nil {
			return
		}
		outside(t, got.Args)
		var lenient struct {
			KnowledgeBaseIDs []string        `json:"knowledge_base_ids"`
			SourceItemIDs    []string        `json:"source_item_ids"`
			ScopeMode        string          `json:"scope_mode"`
			Scope            json.RawMessage `json:"scope"`
		}
		if err := json.Unmarshal(got.Args, &lenient); err != nil {
			t.Fatalf("%s: %v", got.Args, err)
		}
		if lenient.ScopeMode != "hard" || len(lenient.SourceItemIDs) == 0 || !slices.Equal(lenient.KnowledgeBaseIDs, bounded.KnowledgeBaseIDs) {
			t.Errorf("%s is not bounded", got.Args)
		}
		if lenient.Scope != nil {
			outside(t, lenient.Scope)
		}
	})
}

// outside reports every id outside the scope under a scope key in any case.
func outside(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for key, value := range object {
		allowed := bounded.SourceItemIDs
		switch strings.ToLower(strings.NewReplacer("\u212a", "k", "\u017f", "s").Replace(key)) {
		case "knowledge_base_ids", "knowledge_base_id":
			allowed = bounded.KnowledgeBaseIDs
		case "source_item_ids", "source_item_id", "source_ref", "source_refs":
		default:
			continue
		}
		for _, id := range texts(value) {
			if !slices.Contains(allowed, id) {
				t.Errorf("%s names %q outside the scope", raw, id)
			}
		}
	}
}

// texts lists the ids in a value; in reference objects those under naming keys.
func texts(value any) []string {
	var all []string
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, element := range v {
			all = append(all, texts(element)...)
		}
	case map[string]any:
		for key, member := range v {
			if strings.EqualFold(key, "source_item_id") || strings.EqualFold(key, "source_ref") {
				all = append(all, texts(member)...)
			}
		}
	case float64, bool:
		return []string{"not a name"}
	}
	return all
}

// FuzzFilteredResultsNameNothingOutside checks that filtering twice removes nothing more, and that a foreign id in an
// entry is gone.
func FuzzFilteredResultsNameNothingOutside(f *testing.F) {
	for _, seed := range []string{`{"results":[{"source_item_id":"x"}]}`, `[[{"source_ref":"x"}]]`, `{"a":{"b":{"source_id":"x"}}}`, `"{\"source_id\":1}"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, result string) {
		if !json.Valid([]byte(result)) {
			return
		}
		first, err := pskascope.Plugin{}.Filter(sdk.FilterRequest{Result: json.RawMessage(result), Scope: bounded})
		if err != nil || !json.Valid(first.Result) {
			t.Fatalf("%q: %q, %v", result, first.Result, err)
		}
		second, err := pskascope.Plugin{}.Filter(sdk.FilterRequest{Result: first.Result, Scope: bounded})
		if err != nil || second.Removed != 0 {
			t.Errorf("%q → %q → removed %d more (%v)", result, first.Result, second.Removed, err)
		}
	})
}
