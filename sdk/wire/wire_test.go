package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func seeds() []string {
	return []string{
		`{"a":[1,2.5e-3,true,false,null,"x\u00e4\n"],"b":{}}`, ` [ ] `, `""`, `-0`, `01`, `1.`, `.5`, `1e`, `+1`, `tru`, `nulll`, `[1,]`, `{"a":1,}`,
		`{"a" 1}`, `{1:2}`, `"\x"`, `"\u12"`, "\"\x01\"", "\"\xff\"", `"`, `[`, `{`, `]`, ``, `1 2`, "\x00", `{"a":"b`, `["a"`, "\v1", `{"a":1]`,
	}
}

// FuzzValidIsWhatEncodingJSONCallsValid compares the grammar, and what compacting leaves of it.
func FuzzValidIsWhatEncodingJSONCallsValid(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(text)
		r.Skip()
		if err := r.End(); (err == nil) != json.Valid(text) {
			t.Errorf("%q: %v, encoding/json says valid: %v", text, err, json.Valid(text))
		}
		var want bytes.Buffer
		got, err := AppendRaw(nil, append([]byte{}, text...))
		if wantErr := json.Compact(&want, text); (err == nil) != (wantErr == nil) || err == nil && string(got) != want.String() {
			t.Errorf("%q: compact %q (%v), encoding/json: %q (%v)", text, got, err, want.String(), wantErr)
		}
	})
}

// FuzzStringsSurviveWritingAndReading also compares what is written with encoding/json.
func FuzzStringsSurviveWritingAndReading(f *testing.F) {
	f.Add("plain", "a\u2028\\\"\x00\x7f<&>")
	f.Fuzz(func(t *testing.T, a, b string) {
		written := AppendTexts(nil, []string{a, b})
		got := NewReader(written).Texts()
		for i, want := range []string{a, b} {
			if want = lossy(t, want); i >= len(got) || got[i] != want {
				t.Errorf("%q: read %q, want %q", written, got, want)
			}
		}
	})
}

// lossy is what encoding/json keeps of a string.
func lossy(t *testing.T, text string) string {
	t.Helper()
	raw, err := json.Marshal(text)
	if err == nil {
		err = json.Unmarshal(raw, &text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestErrorSaysWhereTheTextIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":}`:   "JSON, byte 5: a value is missing",
		`{"a" 1}`:  "JSON, byte 5: a colon is missing",
		`[1 2]`:    "JSON, byte 3: a comma is missing",
		`"a`:       "JSON, byte 2: a string does not end",
		`"\q"`:     "JSON, byte 1: this is no escape",
		"\"a\nb\"": "JSON, byte 2: a control character stands in a string",
		`[1`:       "JSON, byte 2: the text ends too early",
		`1x`:       "JSON, byte 1: something follows the value",
		`-`:        "JSON, byte 1: a digit is missing",
	} {
		r := NewReader([]byte(text))
		r.Skip()
		if err := r.End(); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReaderThatFailedReadsNothingMore(t *testing.T) {
	r := NewReader([]byte(`{"a":1,"b":"x"}`))
	for range r.Members() {
		_ = r.Text() // the first member is no string
	}
	if r.Text() != "" || r.Bool() || r.Number() != "" || r.Raw() != nil || r.TakeNull() || r.Kind() != Nothing {
		t.Error("something was read")
	}
	if err := r.End(); err == nil || !strings.Contains(err.Error(), "byte 5") {
		t.Error(err)
	}
}
