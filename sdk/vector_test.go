package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const head = `{"abi":1,"name":"p","version":"1","kind":"policy","vectors":[`

func vectorOf(more string) string {
	return head + `{"name":"rm is denied","op":"evaluate","input":{"tool":"exec","args":{"command":"rm"}},"want":{"action":"deny"}}` + more + `]}`
}

func TestAManifestMayBringVectors(t *testing.T) {
	m, err := DecodeManifest([]byte(vectorOf("")))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Vectors) != 1 || m.Vectors[0].Op != "evaluate" {
		t.Errorf("vectors: %+v", m.Vectors)
	}
}

func TestUnclearVectorsAreRefused(t *testing.T) {
	many := strings.Repeat(`,{"name":"x","op":"evaluate","input":{},"want":{"action":"deny"}}`, MaxVectors)
	large := strings.Repeat("x", MaxVectorBytes)
	for name, text := range map[string]string{
		"twice":         vectorOf(`,{"name":"rm is denied","op":"evaluate","input":{},"want":{"action":"deny"}}`),
		"too many":      vectorOf(many),
		"too large":     head + `{"name":"a","op":"evaluate","input":{"tool":"` + large + `"},"want":{"action":"deny"}}]}`,
		"no name":       head + `{"name":"","op":"evaluate","input":{},"want":{"action":"deny"}}]}`,
		"other op":      head + `{"name":"a","op":"inject","input":{},"want":{"action":"deny"}}]}`,
		"unknown field": head + `{"name":"a","op":"evaluate","input":{"tol":"exec"},"want":{"action":"deny"}}]}`,
		"no input":      head + `{"name":"a","op":"evaluate","want":{"action":"deny"}}]}`,
		"no action":     head + `{"name":"a","op":"evaluate","input":{},"want":{"reason":"x"}}]}`,
		"no such level": head + `{"name":"a","op":"evaluate","input":{},"want":{"action":"maybe"}}]}`,
		"no want":       head + `{"name":"a","op":"evaluate","input":{},"want":{}}]}`,
		"capabilities": `{"abi":1,"name":"p","version":"1","kind":"tool","tools":[{"name":"t","description":"d","input_schema":{"type":"object"}}],` +
			`"capabilities":{"progress":{"bytes":1}},"vectors":[{"name":"a","op":"call","input":{},"want":{"content":"c"}}]}`,
	} {
		if _, err := DecodeManifest([]byte(text)); err == nil || !strings.Contains(err.Error(), "vectors") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAnswerHoldsWhatIsWantedOfIt(t *testing.T) {
	for _, c := range []struct {
		want, answer string
		differs      string // field; empty: it holds
	}{
		{`{"action":"deny"}`, `{"action":"deny","reason":"no"}`, ""},
		{`{"action":"deny"}`, `{"action":"allow"}`, "action"},
		{`{"action":"deny","reason":"no"}`, `{"action":"deny"}`, "reason"},
		{`{"action":"deny","reason":""}`, `{"action":"deny"}`, ""},
		{`{"removed":0,"narrowed":[]}`, `{}`, ""},
		{`{"removed":1}`, `{}`, "removed"},
		{`{"args":{"a":1,"b":[2]}}`, `{"args":{"b":[2],"a":1}}`, ""},
		{`{"args":{"a":1}}`, `{"args":{"a":1,"b":2}}`, "args"},
		{`{"n":10000000000000000001}`, `{"n":10000000000000000000}`, "n"},
	} {
		err := Vector{Name: "v", Want: json.RawMessage(c.want)}.Holds(json.RawMessage(c.answer))
		if (err == nil) != (c.differs == "") || err != nil && !strings.Contains(err.Error(), fmt.Sprintf(`vector "v": %s is `, c.differs)) {
			t.Errorf("%s of %s: %v", c.want, c.answer, err)
		}
	}
}
