package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBrokenBodiesAreRefused(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, c := range []struct {
		name, body string
		status     int
		kind       string
		loc        []any
	}{
		{"no JSON", `{"a":}`, 422, "json_invalid", []any{"body", 6}},
		{"cut", `{"a":1`, 422, "json_invalid", []any{"body", 6}},
		{"two values", `{} {}`, 422, "json_invalid", []any{"body", 4}},
		{"trailing comma", `{"a":1,}`, 422, "json_invalid", []any{"body", 8}},
		{"a list", `[]`, 422, "dict_type", []any{"body"}},
		{"null", `null`, 422, "dict_type", []any{"body"}},
		{"NUL in a text", `{"a":["x\u0000"]}`, 422, "value_error", []any{"body", "a", 0}},
		{"NUL in a key", `{"a":{"\u0000":1}}`, 422, "value_error", []any{"body", "a"}},
		{"NUL byte", "{\"a\":\"\x00\"}", 422, "json_invalid", []any{"body"}},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", 422, "json_invalid", []any{"body"}},
		{"surrogate bytes", "{\"a\":\"\xed\xa0\x80\"}", 422, "json_invalid", []any{"body"}},
		{"too deep", nested(65), 422, "json_invalid", []any{"body"}},
	} {
		_, refusal := DecodeObject([]byte(c.body))
		if refusal == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if refusal.Status != c.status {
			t.Errorf("%s: status %d, want %d", c.name, refusal.Status, c.status)
		}
		got := []any{refusal.Fields[0].Type, refusal.Fields[0].Loc}
		if diff := cmp.Diff([]any{c.kind, c.loc}, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if _, refusal := DecodeObject([]byte(nested(64))); refusal != nil {
		t.Errorf("64 levels: %v", refusal)
	}
}

func TestBracketsInTextsDoNotCountAsDepth(t *testing.T) {
	body := `{"a":"` + strings.Repeat(`[\"{`, 100) + `"}`
	if _, refusal := DecodeObject([]byte(body)); refusal != nil {
		t.Error(refusal)
	}
}

func TestNumbersStayAsWritten(t *testing.T) {
	object, refusal := DecodeObject([]byte(`{"a":1.50e+1,"b":12345678901234567890}`))
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := map[string]any{"a": json.Number("1.50e+1"), "b": json.Number("12345678901234567890")}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Error(diff)
	}
}

func TestLongWrongValuesAreNotEchoed(t *testing.T) {
	body := Invalid(FieldError{"string_type", []any{"body", "a"}, "no", strings.Repeat("x", maxEcho)}).body()
	if input := body.Detail.([]FieldError)[0].Input; input != nil {
		t.Errorf("echoed %d bytes", len(input.(string)))
	}
}

func FuzzDecodeObjectNeverPanics(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"b":"\u0000"}]}`, `{"a":"\`, "\xff", `[[`, `{"a":1e999}`, `{"a":1} x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		object, refusal := DecodeObject(raw)
		if (object == nil) == (refusal == nil) {
			t.Fatalf("%q: object %v, refusal %v", raw, object, refusal)
		}
		if refusal == nil && !json.Valid(raw) {
			t.Fatalf("%q was accepted", raw)
		}
	})
}
