package policy

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

// author writes random JSON out of the words that matter here.
type author struct{ *rand.Rand }

var (
	authorKeys = []string{
		"source_item_ids", "source_item_id", "source_refs", "source_ref", "knowledge_base_ids", "knowledge_base_id",
		"scope_mode", "scope", "mode", "Source_Item_Ids", "SCOPE", "query", "user_id", "tenant_id", "USER_ID",
		"document_ids", "results", "citations", "citation", "source_id", "sources", "diagnostics", "text",
	}
	authorTexts = []string{"a1", "a2", "b1", "b2", "alpha", "beta", "hard", "soft", "", " ", `{"source_item_id":"b1"}`}
)

func (a author) value(depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 3
	}
	switch a.IntN(kinds) {
	case 0, 1:
		return authorTexts[a.IntN(len(authorTexts))]
	case 2:
		return []any{nil, true, json.Number("1.50"), json.Number("7")}[a.IntN(4)]
	case 3:
		list := []any{}
		for range a.IntN(4) {
			list = append(list, a.value(depth-1))
		}
		return list
	}
	return a.object(depth - 1)
}

func (a author) object(depth int) map[string]any {
	object := map[string]any{}
	for range a.IntN(6) {
		object[authorKeys[a.IntN(len(authorKeys))]] = a.value(max(depth, 0))
	}
	return object
}

func TestNoRandomArgumentsLeaveTheScope(t *testing.T) {
	a := author{rand.New(rand.NewPCG(1, 2))}
	for range 5000 {
		target := tool(fuzzSchemas[a.IntN(len(fuzzSchemas))])
		model := mustEncode(a.object(3))
		args, outcome, err := Clamp(target, model, model, alpha, someone)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		mustLieInside(t, args)
		again, second, err := Clamp(target, args, args, alpha, someone)
		if err != nil {
			t.Fatal(err)
		}
		if !outcome.Empty && (!bytes.Equal(args, again) || second.Empty || len(second.Narrowed) > 0) {
			t.Fatalf("model: %s\nonce: %s\ntwice: %s %+v", model, args, again, second)
		}
	}
}

func TestNoRandomResultKeepsAForeignEntry(t *testing.T) {
	a := author{rand.New(rand.NewPCG(3, 4))}
	for range 5000 {
		result := mustEncode(a.value(4))
		if !Verifiable(result) {
			continue
		}
		filtered, _, err := FilterResult(result, alpha, 0)
		if err != nil {
			t.Fatalf("%s: %v", result, err)
		}
		value, err := run.Decode(filtered)
		if err != nil {
			t.Fatal(err)
		}
		if _, foreign := (naming{scope: alpha}).in(value); foreign {
			t.Fatalf("result: %s\nfiltered: %s", result, filtered)
		}
	}
}
