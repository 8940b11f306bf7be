package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoReaderOfLinesCutsAnAnswer(t *testing.T) {
	text := "a\nb\r\nc\u0085d\u2028e\u2029f\vg\fh<&>"
	encoded, err := Encode(map[string]any{"text": text, "raw": json.RawMessage("{ \"t\":\n\"x\u0085\u2028\" }")})
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(encoded), "\n\r\v\f\u0085\u2028\u2029\x1c\x1d\x1e") {
		t.Errorf("a line break stands in %q", encoded)
	}
	var back struct{ Text string }
	if err := json.Unmarshal(encoded, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, back.Text); diff != "" {
		t.Error(diff)
	}
}

func TestWhatLeavesIsUTF8(t *testing.T) {
	encoded, err := Encode(map[string]any{"a": "x\xffy", "b": json.RawMessage("\"x\xffy\"")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"a":"x`+`\ufffd`+`y","b":"x`+"\ufffd"+`y"}`, string(encoded)); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsAreMaskedHoweverTheyAreEscaped(t *testing.T) {
	secret := `pa"ss/wörd\1`
	mask := NewMask([]string{secret, "short", "12345678901"})
	once, twice := escape(secret), escape(escape(secret))
	for _, c := range []struct{ name, in, want string }{
		{"plain", `{"a":"` + once + `"}`, `{"a":"[redacted]"}`},
		{"solidus escaped", `"x ` + strings.ReplaceAll(once, "/", `\/`) + ` y"`, `"x [redacted] y"`},
		{"letters escaped", `"` + strings.ReplaceAll(once, "p", `\u0070`) + `"`, `"[redacted]"`},
		{"inside JSON text", `"{\"k\":\"` + twice + `\"}"`, `"{\"k\":\"[redacted]\"}"`},
		{"as a key", `{"` + once + `":1}`, `{"[redacted]":1}`},
		{"as a number", `[12345678901,1]`, `["[redacted]",1]`},
		{"too short to hide", `"short"`, `"short"`},
		{"untouched bytes", `{"a": "\u0070\/", "b":[1.0e5,true,null]}`, `{"a": "\u0070\/", "b":[1.0e5,true,null]}`},
	} {
		if diff := cmp.Diff(c.want, string(mask.JSON([]byte(c.in)))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func FuzzMaskedJSONStaysJSON(f *testing.F) {
	f.Add([]byte(`{"a":"secret-value","b":[1,"\u0073ecret-value"]}`))
	f.Add([]byte(`"secret-value\\"`))
	f.Add([]byte(`[12345678]`))
	mask := NewMask([]string{"secret-value", "12345678", `with"quote`})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		masked := mask.JSON(raw)
		if !json.Valid(masked) {
			t.Fatalf("%q became %q", raw, masked)
		}
		if strings.Contains(string(masked), "secret-value") {
			t.Fatalf("the secret is left in %q", masked)
		}
	})
}
